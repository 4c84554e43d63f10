/**
 * Fills the benchmark's database with what people do: payments, credits and requests for them, notes, accepted tasks,
 * fulfilments and updates. The pages of the dashboard then have something to show in each line.
 */
const SPAN_DAYS = 30; // of the newest transactions

const MONTHS = ["01", "02", "03", "04", "05", "06", "07", "08"].map((month) => `2026-${month}`);
const PAID = MONTHS.slice(0, 6);
const OFFERINGS = 40; // of orders.rs
const [BY, AT] = ["accounts@small-hours.example", Date.parse("2026-10-01")];

/** The transactions, each with its scope and month, of which the nth part is taken. @param {number} part */
const everyNth = (
  part,
) => `(SELECT t.*, s.mode, s.unit, strftime('%Y-%m', t.created / 1000, 'unixepoch') AS month
  FROM transactions t JOIN scopes s USING (scope)
  WHERE t.cents IS NOT NULL AND (t.created / 1000) % ${part} = 0)`;

/** How many of the orders are credited and have a request or a note: 1 in so many, by the second of their creation. */
const ONE_IN = { credits: 50, requests: 400, notes: 400 };

/**
 * @param {import("node:sqlite").DatabaseSync} database
 * @param {number} shops
 */
export function fillOffice(database, shops) {
  database.exec("BEGIN");
  payments(database, shops);
  database.exec(`INSERT INTO credits SELECT id, 1, 'operation-' || id, mode, unit, month, month, currency, cents, NULL,
    cents / 2, NULL, '[]', 'Refunded', 'audit:' || id, '${BY}', created FROM ${everyNth(ONE_IN.credits)}`);
  // One in ten requests is open.
  database.exec(`INSERT INTO credit_requests SELECT 'crq_' || id, id, mode, unit, '{"reason":"Refunded"}', currency, cents / 2,
    NULL, 0, 'manager@shop.example', 1, created, iif(open, 'open', 'refused'), iif(open, NULL, '${BY}'), iif(open, NULL, 0),
    iif(open, NULL, created), iif(open, NULL, 'Not refunded') FROM (
      SELECT *, created / 100 % 10 = 0 AS open FROM ${everyNth(ONE_IN.requests)} WHERE mode = 'live')`);
  database.exec(`INSERT INTO notes SELECT id, 1, created, '${BY}', 0, 'Asked the shop about this order.',
    iif(created / 100 % 2, 'accounts', 'support'), iif(created / 200 % 10, created, NULL), '${BY}'
    FROM ${everyNth(ONE_IN.notes)}`);
  database.exec(`INSERT INTO accepted_tasks SELECT 'unusual', id, '', 'The shop says that it is right.', '${BY}', created
    FROM ${everyNth(ONE_IN.notes)} LIMIT 1000`);
  stories(database);
  database.exec("COMMIT");
}

/** Marks six months of all shops as paid, as far as Workers KV would show it. */
function payments(database, shops) {
  const insert = database.prepare("INSERT INTO published VALUES (?, ?, ?, ?, 0, ?, ?)");
  const sums = [{ currencyCode: "USD", amount: "1.00", transactions: 1, unpriced: 0 }];
  const paid = { paidAt: "2026-09-01T00:00:00.000Z", sums, invoice: "2026-1", by: BY };
  const record = JSON.stringify({ ...paid, at: "2026-09-02T00:00:00.000Z" });
  for (let shop = 0; shop < shops; shop += 1)
    for (const month of PAID) {
      const name = `settlement:live:unit_${shop}:${month}`;
      insert.run(name, record, `audit:${name}`, BY, AT, Date.now());
    }
}

/** Records fulfilments and updates of each offering of the months, except of those that a month has without a story. */
function stories(database) {
  const done = database.prepare(
    "INSERT INTO fulfilments VALUES (?, 'live', ?, ?, '1000', ?, NULL, NULL, NULL, ?, ?, NULL, NULL)",
  );
  const told = database.prepare(
    "INSERT INTO updates VALUES (?, 'live', ?, ?, 'published', ?, ?, ?, 1, ?, ?, ?, ?, ?)",
  );
  for (const month of MONTHS)
    for (let number = 0; number < OFFERINGS; number += 1) {
      const digits = String(number).padStart(2, "0");
      const [of, day] = [`${month.replace("-", "")}${digits}`.padStart(20, "0"), `${month}-28`];
      const offering = `offering-${digits}`;
      done.run(`ful_${of}`, month, offering, day, BY, AT);
      if (number % 8 === 7) continue;
      const texts = { en: "The seedlings stand in rows." };
      const content = { id: `upd_${of}`, stage: "done", date: day, quantity: 1000, texts };
      const json = JSON.stringify(content);
      told.run(content.id, month, offering, day, json, `ful_${of}`, `op_${of}`, BY, AT, BY, AT);
    }
  // As if the cron had written the copies that timelines read.
  database.exec("UPDATE update_records SET compiled = revision, checked = revision");
}

/** Returns the newest live transactions of the biggest shop, whose e-mails failed. @param {import("node:sqlite").DatabaseSync} database */
export function failedOnes(database, most = 500) {
  const since = Date.now() - SPAN_DAYS * 86_400_000;
  return database
    .prepare(`SELECT id FROM transactions WHERE scope = (SELECT scope FROM scopes WHERE unit = 'unit_0' AND mode = 'live')
      AND created BETWEEN ? AND ? ORDER BY created DESC LIMIT ?`)
    .all(since, Date.now(), most)
    .map(({ id }) => String(id));
}
