/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the page that are always the same, from src/cli/assets.  They
 * are C23's #embed, which clang has in every mode; the compiler lists the files
 * as dependencies.
 */
#include "cli/html.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const unsigned char html_css[] = {
#embed "assets/page.css"
        , 0};

const unsigned char html_body[] = {
#embed "assets/page.html"
        , 0};

const unsigned char html_layout_js[] = {
#embed "assets/layout.js"
        , 0};

const unsigned char html_page_js[] = {
#embed "assets/page.js"
        , 0};
