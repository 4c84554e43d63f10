/** wrangler.toml with what it has commented out, the settings of e-mails, and without its build. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const SENDER = 'MAIL_FROM = "pledges@shop.example"';

/**
 * @param {string} folder that the file is written to
 * @returns {string} the file
 */
export function withMail(folder) {
  const text = readFileSync(join(ROOT, "wrangler.toml"), "utf8")
    .replaceAll(/^#(?=\S| {2}\{)/gm, "")
    .replaceAll('MAIL_FROM = ""', SENDER)
    .replace('main = "', `main = "${ROOT}/`)
    .replace(/^\[build\]\n(?:.+\n)+/m, "");
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, text);
  return file;
}
