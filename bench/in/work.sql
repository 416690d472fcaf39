-- SPDX-License-Identifier: Apache-2.0
-- Work for SQLite on a table of orders (gen table): load, index, join, group,
-- update, delete, triggers, recursion, windows.
.mode csv
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, article TEXT,
  amount INT, price INT, remark TEXT);
.import orders.csv orders
CREATE INDEX by_customer ON orders(customer);
CREATE INDEX by_article ON orders(article, price);
CREATE TABLE stock(article TEXT PRIMARY KEY, sold INT, value INT)
  WITHOUT ROWID;
INSERT INTO stock SELECT article, sum(amount), sum(amount * price)
  FROM orders GROUP BY article;
SELECT count(*), sum(sold), max(value) FROM stock;
SELECT customer, count(*) AS n, sum(amount * price) AS paid FROM orders
  GROUP BY customer HAVING n > 20 ORDER BY paid DESC, customer LIMIT 10;
SELECT count(*), sum(o.price - p.price) FROM orders o
  JOIN orders p ON p.id = o.id * 7 % 9001 + 1 WHERE o.amount > 5;
SELECT count(*) FROM orders WHERE remark LIKE '%se%' OR remark GLOB '*[ku]n';
CREATE TABLE journal(id INTEGER PRIMARY KEY, what TEXT, delta INT);
CREATE TRIGGER note AFTER UPDATE OF amount ON orders BEGIN
  INSERT INTO journal(what, delta) VALUES(new.article, new.amount - old.amount);
END;
BEGIN;
UPDATE orders SET amount = amount + 2 WHERE id % 11 = 3;
COMMIT;
SELECT what, sum(delta) AS total FROM journal GROUP BY what
  ORDER BY total DESC, what LIMIT 4;
DELETE FROM orders WHERE price BETWEEN 20000 AND 30000;
SELECT count(*), sum(amount) FROM orders;
WITH RECURSIVE walk(step, x) AS (SELECT 1, 1 UNION ALL
  SELECT step + 1, x * 48271 % 65521 FROM walk WHERE step < 20000)
  SELECT max(step), sum(x) FROM walk;
SELECT article, id, sum(price) OVER (PARTITION BY article ORDER BY id
  ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS moving
  FROM orders ORDER BY moving DESC, id LIMIT 5;
SELECT a.customer, count(DISTINCT b.article) AS kinds FROM stock s
  JOIN orders b ON b.article = s.article JOIN orders a ON a.id = b.id
  WHERE s.sold > 400 GROUP BY a.customer ORDER BY kinds DESC, 1 LIMIT 5;
PRAGMA integrity_check;
