/** `npm run samples`: prints doc comments and texts, drawn at random, for a reader who judges how clear they are. */
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { InvalidArgumentError, command } from "./command.mjs";
import { root } from "./places.mjs";

const SOURCES = [".rs", ".mjs", ".ts", ".js"];
/** Matches doc comments: in Rust each run of lines, in JavaScript and TypeScript each block. */
const DOC_COMMENTS = /(?:^[ \t]*\/\/[/!].*\n)+|\/\*\*[\s\S]*?\*\//gm;
/** The folders with texts that operators, buyers and shops read. */
const TEXTS = ["src/dashboard", "src/operations", "src/operator", "src/recipient", "src/service"];
TEXTS.push("scripts", "www", "pkg-templates");
/** Matches string literals. Those with four words or more count as texts. */
const STRINGS = /"((?:[^"\\\n]|\\.|\\\n)*)"|`((?:[^`\\]|\\.)*)`/g;
const IS_TEXT = /^[A-Z`{$a-z][^;<>]*(?: [^;<> ]+){3,}$/;

const tests = /^\s*#\[cfg\(test\)\][\s\S]*/m;

/** @param {string[]} folders @returns {{file: string, source: string}[]} */
const filesOf = (folders) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { encoding: "utf8", recursive: true })
      .filter(
        (name) => SOURCES.includes(extname(name)) && !/node_modules|generated|locales/.test(name),
      )
      .map((name) => ({
        file: join(folder, name),
        source: readFileSync(join(root, folder, name), "utf8").replace(tests, ""),
      })),
  );

const plain = (text) => text.replaceAll(/\s*\\?\n\s*/g, " ").trim();

/** Returns a comment without its comment marks. @param {string} comment */
const words = (comment) =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*(?:\/\/[/!]|\/\*\*|\*\/|\*)? ?|\s*\*\/$/g, ""))
    .join("\n")
    .trim();

function docComments() {
  const files = filesOf(["src", "scripts", "pkg-templates", "proofs", "tests", "www"]);
  return files.flatMap(({ file, source }) =>
    [...source.matchAll(DOC_COMMENTS)].map(([comment]) => {
      const text = words(comment);
      const rest = source.slice(source.indexOf(comment) + comment.length);
      const item = rest.match(/^\s*(?:#\[.*\]\s*)*(.*)/)?.[1] ?? "";
      return { text: text.replace(/^@\w+ /, ""), item: `${file}: ${item.trim()}` };
    }),
  );
}

function texts() {
  return filesOf(TEXTS).flatMap(({ file, source }) =>
    [...source.replaceAll(/^\s*(?:\/\/|\*).*$/gm, "").matchAll(STRINGS)]
      .map(([, double, template]) => plain(double ?? template))
      .filter((text) => IS_TEXT.test(text) && !/=>|\{\s*$|^\w+\(/.test(text))
      .map((text) => ({ text, item: file })),
  );
}

/** Returns a generator of numbers from 0 to 1, which are the same for one seed (mulberry32). @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draw(all, count, next) {
  const left = all.filter(({ text }) => text.split(/\s+/).length > 3);
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(Math.floor(next() * left.length), 1)[0],
  );
}

const number = (text) => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("write a whole number");
};

export default command(
  "npm run samples --",
  "Draws doc comments and texts of pages, commands and errors at random, as a numbered list. Somebody who has not seen the code reads each once, and notes which had to be read twice.",
)
  .option("--seed <number>", "draws the same again", number, Date.now() % 1_000_000)
  .option("--comments <count>", "number of doc comments", number, 130)
  .option("--texts <count>", "number of texts", number, 60)
  .action(({ seed, comments, texts: count }) => {
    const next = random(seed);
    const show = ({ text, item }, index) =>
      `${index + 1}. ${item}\n\n   ${text.replaceAll("\n", "\n   ")}\n`;
    const lines = [
      `# Seed ${seed}`,
      "## Doc comments",
      ...draw(docComments(), comments, next).map(show),
    ];
    lines.push("## Texts", ...draw(texts(), count, next).map(show));
    console.log(lines.join("\n\n"));
  });
