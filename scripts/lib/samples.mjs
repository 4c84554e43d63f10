/** `npm run samples`: prints doc comments and texts, drawn at random, for a reader who judges how clear they are. */
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { mulberry32 } from "../../pkg-templates/testing/random.ts";
import { command, whole } from "./command.mjs";
import { root } from "./places.mjs";

const SOURCES = [".rs", ".mjs", ".ts", ".js"];
/** Matches doc comments: in Rust each run of lines, in JavaScript and TypeScript each block that begins a line. */
const DOC_COMMENTS = /(?:^[ \t]*\/\/[/!].*\n)+|^[ \t]*\/\*\*[\s\S]*?\*\//gm;
/**
 * Matches the type in a JSDoc tag, with up to three levels of braces. Samples leave types out, because only
 * the compiler needs them.
 */
const TYPES = /(@\w+) \{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g;
/** Matches a JSDoc tag without a description. */
const BARE_TAGS =
  /@(?:(?:param|property|returns|template|type)(?: \[?[\w.]+\]?)?|typedef \w+(?!\s*@property))(?=\s*(?:@|$))/g;
/** The folders whose sources are searched for texts that people read. */
const TEXTS = [
  ...["office", "buyer/recipient", "pledges/service"].map((name) => `src/${name}`),
  ...["scripts", "www", "pkg-templates"],
];
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

/** Returns the prose of a comment: without comment marks, types, and tags that describe nothing. @param {string} comment */
const words = (comment) =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*(?:\/\/[/!]|\/\*\*|\*\/|\*)? ?|\s*\*\/$/g, ""))
    .join("\n")
    .replaceAll(TYPES, "$1")
    .replaceAll(BARE_TAGS, "")
    .replaceAll(/\n\s*\n\s*/g, "\n\n")
    .trim();

/** Returns what a comment describes: the types that it defines, or else the next line of code. */
function itemOf(comment, rest) {
  const types = [...comment.replaceAll(TYPES, "$1").matchAll(/@typedef (\w+)/g)];
  if (types.length > 0) return types.map(([, name]) => `type ${name}`).join(", ");
  return rest.match(/^\s*(?:(?:#\[.*\]|\/\*\*.*\*\/)\s*)*(.*)/)?.[1]?.trim() ?? "";
}

function docComments() {
  const files = filesOf(["src", "scripts", "pkg-templates", "tests", "www"]);
  return files.flatMap(({ file, source }) =>
    [...source.matchAll(DOC_COMMENTS)].map(({ 0: comment, index }) => {
      const item = itemOf(comment, source.slice(index + comment.length));
      return { text: words(comment), item: index === 0 ? file : `${file}: ${item}` };
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

function draw(all, count, next) {
  const left = all.filter(({ text }) => text.split(/\s+/).length > 3);
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice((next() >>> 0) % left.length, 1)[0],
  );
}

const number = whole(0, 999_999_999);

export default command(
  "npm run samples --",
  "Draws doc comments and texts of pages, commands and errors at random, as a numbered list. Somebody who has not seen the code reads each once, and notes those that had to be read twice.",
)
  .option(
    "--seed <number>",
    "the seed of an earlier list, to draw the same comments and texts again",
    number,
    Date.now() % 1_000_000,
  )
  .option("--comments <count>", "number of doc comments", number, 130)
  .option("--texts <count>", "number of texts", number, 60)
  .action(({ seed, comments, texts: count }) => {
    const next = mulberry32(seed);
    const show = ({ text, item }, index) =>
      `${index + 1}. ${item}\n\n   ${text.replaceAll("\n", "\n   ")}\n`;
    const list = (heading, all, number) => [heading, ...draw(all, number, next).map(show)];
    const lines = [
      `# Seed ${seed}`,
      ...list("## Doc comments", docComments(), comments),
      ...list("## Texts", texts(), count),
    ];
    console.log(lines.join("\n\n"));
  });
