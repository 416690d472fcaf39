/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the page that are always the same, from src/cli/assets.  They
 * are C23's #embed, which clang has in every mode; the compiler lists the files
 * as dependencies.
 */
#include "cli/html.h"

#include <stddef.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

const unsigned char html_css[] = {
#embed "assets/page.css"
        , 0};

const unsigned char html_body[] = {
#embed "assets/page.html"
        , 0};

const unsigned char html_diff_css[] = {
#embed "assets/diff.css"
        , 0};

const unsigned char html_diff_body[] = {
#embed "assets/diff.html"
        , 0};

static const unsigned char diff_js[] = {
#embed "assets/diff.js"
        , 0};

static const unsigned char base_js[] = {
#embed "assets/base.js"
        , 0};

static const unsigned char layout_js[] = {
#embed "assets/layout.js"
        , 0};

static const unsigned char page_js[] = {
#embed "assets/page.js"
        , 0};

static const unsigned char source_js[] = {
#embed "assets/source.js"
        , 0};

static const unsigned char graph_js[] = {
#embed "assets/graph.js"
        , 0};

static const unsigned char panes_js[] = {
#embed "assets/panes.js"
        , 0};

static const unsigned char frame_js[] = {
#embed "assets/frame.js"
        , 0};

const unsigned char *const html_scripts[] = {
        layout_js, base_js,  page_js,  source_js,
        graph_js,  panes_js, frame_js, NULL,
};

const unsigned char *const html_diff_scripts[] = {base_js, diff_js, NULL};
