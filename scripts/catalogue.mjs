/** `npm run catalogue -- set FILE|show`: the prices of the local or the deployed service. */
import { readFileSync } from "node:fs";
import { command, onRecords } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { Stop, table } from "./lib/report.mjs";

const FORM = `
A catalogue, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing.`;
const NAME = "catalogue";
const LIVE = "catalogue:live";
const prices = command("npm run catalogue --", "Prices of the service.").addHelpText("after", FORM);

onRecords(prices.command("set").description("replace the prices").argument("<file>", "JSON; `-` is standard input"), async ({ tools, kv, print }, file) => {
  const { catalogue, entries } = await check(tools, () => readFileSync(file === "-" ? 0 : file), file === "-" ? "the catalogue" : file);
  await kv.write(entries);
  print(catalogue, () => `${shown(catalogue)}\n\nWithin about a minute the service charges by it everywhere.`);
});

onRecords(prices.command("show").description("print the prices"), async ({ tools, kv, print }) => {
  const { [LIVE]: value } = await kv.read([LIVE]);
  if (value === null) return print(null, () => "no catalogue is set: every charge is 0.00 USD");
  const { catalogue } = await check(tools, () => value, "the stored catalogue");
  print(catalogue, () => shown(catalogue));
});

async function check(tools, read, what) {
  try {
    return await operator(tools, NAME, read());
  } catch (error) {
    throw new Stop(`${what}: ${error.message}`);
  }
}

function shown({ currencyCode, unitPrices }) {
  const rows = Object.entries(unitPrices);
  return rows.length === 0 ? `no offering has a price: every charge is 0.00 ${currencyCode}` : table(["OFFERING", currencyCode], rows);
}

await prices.parseAsync();
