/** `npm run catalogue -- set FILE|show`: the prices of the local or the deployed service. */
import { readFileSync } from "node:fs";
import { operator } from "./lib/operator.mjs";
import { Stop } from "./lib/report.mjs";
import { table } from "./lib/table.mjs";
import { BadUsage, PLACE_HELP, PLACE_OPTIONS, at, readArguments, runScript } from "./lib/usage.mjs";

const HELP = `Prices of the service.

  npm run catalogue -- set FILE   FILE is JSON; \`-\` is standard input
  npm run catalogue -- show

  --remote           the deployed service; without it, the one of \`npm start\`
  --persist-to DIR   folder of the local state
  --json             output for programs

A catalogue, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing.`;

const NAME = "catalogue";

async function set({ tools, kv, print }, file) {
  const { catalogue, entry } = await check(tools, file);
  await kv.write([entry]);
  print(catalogue, () => `${shown(catalogue)}\n\nWithin about a minute the service charges by it everywhere.`);
}

async function check(tools, file) {
  const text = read(file);
  try {
    return await operator(tools, "catalogue", text);
  } catch (error) {
    if (error instanceof Stop) throw new Stop(`${file === "-" ? "the catalogue" : file}: ${error.message}`);
    throw error;
  }
}

function read(file) {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw new Stop(`\`${file}\` can't be read: ${error.message}`);
  }
}

async function show({ tools, kv, print }) {
  const { [NAME]: value } = await kv.read([NAME]);
  if (value === null) return print(null, () => "no catalogue is set: every charge is 0.00 USD");
  const { catalogue } = await operator(tools, "catalogue", value);
  print(catalogue, () => shown(catalogue));
}

function shown({ currencyCode, unitPrices }) {
  const prices = Object.entries(unitPrices);
  return prices.length === 0 ? `no offering has a price: every charge is 0.00 ${currencyCode}` : table(["OFFERING", currencyCode], prices);
}

function readCommand([name, file, ...more]) {
  const known = { set: [set, file], show: [show] };
  if (name === undefined) throw new BadUsage("name a command: set or show");
  if (!Object.hasOwn(known, name)) throw new BadUsage(`there is no command \`${name}\``);
  if (name === "set" && file === undefined) throw new BadUsage("name the file of the catalogue");
  const surplus = name === "set" ? more[0] : file;
  if (surplus !== undefined) throw new BadUsage(`\`${surplus}\` is one word too many`);
  return known[name];
}

await runScript(HELP, async (showHelp) => {
  const { values, positionals } = readArguments(PLACE_OPTIONS);
  if (values.help) return showHelp();
  const [run, file] = readCommand(positionals);
  await run(await at(values), file);
});
