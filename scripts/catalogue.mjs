/** `npm run catalogue -- set FILE [--mode test|live]` and `show`: the prices of the local or the deployed service. */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { Option, command, onRecords } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, table } from "./lib/output.mjs";

const MODES = ["test", "live"];
const FORM = `
A catalogue, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing.`;
const prices = command(
  "npm run catalogue --",
  "Prices of the service: one catalogue for test keys, one for live keys.",
).addHelpText("after", FORM);
const mode = (description) =>
  new Option("--mode <mode>", description).choices([...MODES, "both"]).default("both");
const modesOf = ({ mode }) => (mode === "both" ? MODES : [mode]);

const change = prices
  .command("set")
  .description("replace the prices of a mode")
  .argument("<file>", "JSON; `-` is standard input")
  .addOption(mode("whose prices: those of test keys, of live keys, or of both"));
onRecords(
  change,
  async ({ tools, port, print, terminal, by }, file) => {
    const { parsePrices, setPrices } = await operator(tools);
    const { bytes, catalogue } = await read(parsePrices, file, terminal);
    const modes = modesOf(change.opts());
    for (const mode of modes) await setPrices(port, await by(), mode, bytes);
    const after = "Within about a minute the service charges by it everywhere.";
    print(
      { catalogues: Object.fromEntries(modes.map((mode) => [mode, catalogue])) },
      () => `prices of ${modes.join(" and ")} keys\n${shown(catalogue)}\n\n${after}`,
    );
  },
  { changes: true },
);

async function read(parsePrices, file, { input }) {
  try {
    const bytes = await (file === "-" ? buffer(input) : readFile(file));
    return { bytes, catalogue: await parsePrices(bytes) };
  } catch ({ message }) {
    throw new UserError(`${file === "-" ? "the catalogue" : file}: ${message}`);
  }
}

const look = prices.command("show").description("print the prices").addOption(mode("whose prices"));
onRecords(look, async ({ tools, port, print }) => {
  const { getPrices } = await operator(tools);
  const catalogues = {};
  for (const mode of modesOf(look.opts())) catalogues[mode] = await getPrices(port, mode);
  const words = ([mode, catalogue]) =>
    `prices of ${mode} keys\n${catalogue ? shown(catalogue) : "no catalogue is set: every charge is 0.00 USD"}`;
  print({ catalogues }, () => Object.entries(catalogues).map(words).join("\n\n"));
});

function shown({ currencyCode, unitPrices }) {
  const rows = Object.entries(unitPrices);
  return rows.length === 0
    ? `no offering has a price: every charge is 0.00 ${currencyCode}`
    : table(["OFFERING", currencyCode], rows);
}

export default prices;
