/** `npm run catalogue -- set FILE [--mode test|live]`, `show` and `check`: the prices of the local or the deployed service. */
import { readFileSync } from "node:fs";
import { Option, command, onRecords } from "./lib/command.mjs";
import { MODES, ask, storedPrices } from "./lib/prices.mjs";
import { table } from "./lib/output.mjs";
import { Tally, eachTransaction } from "./lib/transactions.mjs";

const FORM = `
A catalogue, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing.`;
const prices = command(
  "npm run catalogue --",
  "Prices of the service: one catalogue for test keys, one for live keys.",
).addHelpText("after", FORM);
const mode = (description) => new Option("--mode <mode>", description).choices([...MODES, "both"]);
const modesOf = (mode) => (mode === "both" ? MODES : [mode]);

const change = prices
  .command("set")
  .description("replace the prices of a mode")
  .argument("<file>", "JSON; `-` is standard input");
change.addOption(
  mode("whose prices: those of test keys, of live keys, or of both").default("both"),
);
onRecords(change, async ({ tools, kv, print }, file) => {
  const { catalogue, entries } = await ask(
    tools,
    "catalogue",
    () => readFileSync(file === "-" ? 0 : file),
    file === "-" ? "the catalogue" : file,
  );
  const modes = modesOf(change.opts().mode);
  await kv.write(modes.map((mode) => entries[mode]));
  const after = "Within about a minute the service charges by it everywhere.";
  print(
    allOf(modes, () => catalogue),
    () => `prices of ${modes.join(" and ")} keys\n${shown(catalogue)}\n\n${after}`,
  );
});

const look = prices.command("show").description("print the prices");
look.addOption(mode("whose prices").default("both"));
onRecords(look, async ({ tools, kv, print }) => {
  const modes = modesOf(look.opts().mode);
  const found = {};
  for (const mode of modes) found[mode] = await storedPrices(tools, kv, mode);
  const words = ({ catalogue, name }, mode) =>
    `prices of ${mode} keys${name === "catalogue" ? ", from the record that both modes once shared" : ""}\n${catalogue ? shown(catalogue) : "no catalogue is set: every charge is 0.00 USD"}`;
  print(
    allOf(modes, (mode) => found[mode].catalogue),
    () => modes.map((mode) => words(found[mode], mode)).join("\n\n"),
  );
});

const allOf = (modes, catalogueOf) => ({
  catalogues: Object.fromEntries(modes.map((mode) => [mode, catalogueOf(mode)])),
});

const MOST_OFFERINGS = 1_000; // that are told apart: a shop may send any text

const search = prices
  .command("check")
  .description(
    "offerings of recorded transactions that have no price, and so cost nothing; exit code 1 if there are any",
  );
search.addOption(mode("whose transactions").default("both"));
onRecords(search, async ({ tools, kv, print }) => {
  const modes = modesOf(search.opts().mode);
  const catalogues = { test: null, live: null };
  for (const mode of modes) catalogues[mode] = (await storedPrices(tools, kv, mode)).catalogue;
  const [offerings, tally, found] = [new Map(), new Tally(), { priced: 0, more: 0 }];
  for await (const answer of eachTransaction({ tools, kv }, "unpriced-offerings", () => ({
    catalogues,
  }))) {
    tally.add({ damaged: answer.damaged });
    found.priced += answer.priced;
    for (const offering of answer.offerings) found.more += add(offerings, offering);
  }
  const rows = [...offerings.values()].sort((a, b) => b.pledges - a.pledges);
  const without = modes.filter((mode) => catalogues[mode] === null);
  process.exitCode = rows.length > 0 ? 1 : 0;
  print(
    { offerings: rows, ...found, damaged: tally.damaged, withoutCatalogue: without },
    () => checked(rows, found, without) + tally.words(),
  );
});

/** Adds to what is known of an offering. Returns how many pledges could not be added. */
function add(offerings, { mode, offeringId, pledges, first, last }) {
  const name = `${mode} ${offeringId}`;
  const known = offerings.get(name) ?? { mode, offeringId, pledges: 0, first, last };
  if (!offerings.has(name) && offerings.size === MOST_OFFERINGS) return pledges;
  offerings.set(name, {
    ...known,
    pledges: known.pledges + pledges,
    first: first < known.first ? first : known.first,
    last: last > known.last ? last : known.last,
  });
  return 0;
}

function checked(rows, { priced, more }, without) {
  return [
    rows.length === 0
      ? "every offering of the recorded transactions has a price"
      : table(
          ["OFFERING", "MODE", "PLEDGES", "FIRST", "LAST"],
          rows.map(({ offeringId, mode, pledges, first, last }) => [
            offeringId,
            mode,
            String(pledges),
            first,
            last,
          ]),
        ),
    more > 0 && `${more} more pledges have other offerings without a price.`,
    priced > 0 && `${priced} transactions had offerings without a price that have one now.`,
    ...without.map(
      (mode) => `No catalogue is set for ${mode} keys: their transactions were not looked at.`,
    ),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function shown({ currencyCode, unitPrices }) {
  const rows = Object.entries(unitPrices);
  return rows.length === 0
    ? `no offering has a price: every charge is 0.00 ${currencyCode}`
    : table(["OFFERING", currencyCode], rows);
}

await prices.parseAsync();
