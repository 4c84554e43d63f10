/** The results of `bench:sizes` as Markdown. */
import { table, versionsOf } from "../report.mjs";

const LIBRARIES = ["stripe", "openai", "zod", "impact-pledge"];

/** @param {{use: string, name: string, minified: number, brotli: number}[][]} runs of which all are the same @param {{bench: string}} environment */
export function report([rows], { bench }) {
  const versions = Object.entries(versionsOf(bench, LIBRARIES)).map((each) => each.join(" "));
  const figure = (bytes) => bytes.toLocaleString("en");
  const lines = rows.map(({ use, name, minified, brotli }) => [
    `${use}: ${name}`,
    figure(minified),
    figure(brotli),
  ]);
  return `Versions: ${versions.join(", ")}.\n\n${table(["", "minified, bytes", "brotli"], lines)}`;
}
