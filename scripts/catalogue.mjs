/** `npm run catalogue -- set|price|show|history`: the prices of the local or the deployed service. */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { Option, YES, command, confirm, onRecords } from "./lib/command.mjs";
import { APPLIED_SECONDS } from "./lib/delays.mjs";
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
const WHOSE = "whose prices: those of test keys, of live keys, or of both";

// ---- Change --------------------------------------------------------------------------------------

const whole = prices
  .command("set")
  .description("replace the prices of a mode")
  .argument("<file>", "JSON; `-` is standard input")
  .addOption(mode(WHOSE))
  .option("--yes", YES);
onRecords(
  whole,
  async (at, file) => {
    const { parsePrices } = await operator(at.tools);
    const { bytes, catalogue } = await read(parsePrices, file, at.terminal);
    const files = modesOf(whole.opts()).map((mode) => ({ mode, bytes, catalogue }));
    await change(at, files, whole.opts());
  },
  { changes: true },
);

const one = prices
  .command("price")
  .description("set the price of one offering")
  .argument("<offering>", "ID of the offering")
  .argument("<price>", "a plain decimal such as 0.55")
  .addOption(mode(WHOSE))
  .option("--yes", YES);
onRecords(
  one,
  async (at, offering, price) => {
    const { withPrice } = await operator(at.tools);
    const files = [];
    for (const mode of modesOf(one.opts())) {
      const { seen, ...catalogue } = await withPrice(at.port, mode, offering, price);
      files.push({ mode, seen, catalogue, bytes: Buffer.from(JSON.stringify(catalogue)) });
    }
    await change(at, files, one.opts());
  },
  { changes: true },
);

/**
 * Shows what changes, asks before what may be a mistake, and sets the prices.
 * @param {any} at @param {{mode: string, bytes: Buffer, catalogue: any, seen?: string}[]} files `seen`: the prices that the
 *   file is made of @param {any} options
 */
async function change({ tools, port, print, terminal, by }, files, { yes }) {
  const { comparePrices, setPrices } = await operator(tools);
  const changes = {};
  for (const file of files) {
    const { seen, ...change } = await comparePrices(port, file.mode, file.bytes);
    changes[file.mode] = change;
    file.seen ??= seen;
  }
  const words = files.map((file) => changeInWords(file, changes[file.mode])).join("\n\n");
  const risks = files.flatMap(({ mode }) =>
    changes[mode].risks.map((risk) => `${mode} keys: ${risk}`),
  );
  if (risks.length > 0) {
    if (!yes) terminal.err(`${words}\n\n`);
    const about = { question: `${risks.join("; ")}. Set these prices?`, yes };
    await confirm({ ...about, otherwise: "no price was changed" }, terminal);
  }
  const author = await by();
  const done = [];
  for (const { mode, bytes, seen } of files) {
    await setPrices(port, author, mode, bytes, seen).catch((error) => {
      if (done.length === 0 || !(error instanceof UserError)) throw error;
      throw new UserError(
        `the prices of ${done[0]} keys are set, those of ${mode} keys are not: ${error.message}`,
      );
    });
    done.push(mode);
  }
  const after = `After about ${APPLIED_SECONDS} s the service charges by it everywhere.`;
  const catalogues = Object.fromEntries(files.map(({ mode, catalogue }) => [mode, catalogue]));
  print({ catalogues, changes }, () => `${words}\n\n${after}`);
}

function changeInWords({ mode, catalogue: { currencyCode, unitPrices } }, { prices }) {
  const rows = prices.map(({ offering, from, to }) => [offering, from ?? "–", to ?? "–"]);
  const same = Object.keys(unitPrices).length - prices.filter(({ to }) => to !== null).length;
  return [
    `prices of ${mode} keys, in ${currencyCode}`,
    ...(rows.length > 0 ? [table(["OFFERING", "BEFORE", "NOW"], rows)] : []),
    `${same} as before`,
  ].join("\n");
}

async function read(parsePrices, file, { input }) {
  try {
    const bytes = await (file === "-" ? buffer(input) : readFile(file));
    return { bytes, catalogue: await parsePrices(bytes) };
  } catch ({ message }) {
    throw new UserError(`${file === "-" ? "the catalogue" : file}: ${message}`);
  }
}

// ---- Look ----------------------------------------------------------------------------------------

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

const past = prices
  .command("history")
  .description("who changed which price, and when; the newest last")
  .addOption(mode("whose prices"));
onRecords(past, async ({ tools, port, print }) => {
  const { listPrices } = await operator(tools);
  const history = [];
  for (const mode of modesOf(past.opts())) history.push(...(await listPrices(port, mode)));
  history.sort((a, b) => (a.time < b.time ? -1 : 1));
  const heads = ["TIME", "BY", "MODE", "OFFERING", "BEFORE", "AFTER"];
  const words = () => table(heads, history.flatMap(historyCells));
  print({ history }, () => (history.length === 0 ? "no prices were set" : words()));
});

function historyCells({ time, by, mode, change: { currency, prices } }) {
  const line = (...cells) => [time, by ?? "?", mode, ...cells];
  const lines = prices.map(({ offering, from, to }) => line(offering, from ?? "–", to ?? "–"));
  if (currency) lines.unshift(line("(currency)", ...currency));
  return lines.length > 0 ? lines : [line("(none)", "", "")];
}

export default prices;
