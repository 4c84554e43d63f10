/** Formats the results of `bench:waits` as Markdown. */
import { figure, quantile } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

/** @param {import("./run.mjs").Result[]} runs @param {{root: string}} environment */
export function report(runs, { root }) {
  const [first] = runs;
  const takes = Object.keys(Object.values(first)[0]);
  const heads = takes.flatMap((each) => [`cold at ${each} ms`, `warm at ${each} ms`]);
  const rows = Object.keys(first).map((kind) => {
    const answers = (each, heat) => runs.flatMap((run) => run[kind][each][heat]);
    const waits = ["cold", "warm"].map((heat) => range(answers(takes[0], heat)));
    const times = takes.flatMap((each) =>
      ["cold", "warm"].map((heat) => quantiles(answers(each, heat))),
    );
    return [kind, waits.join(" / "), ...times];
  });
  return [
    `${provenance(versionsOf(root, ["workerd"]), runs.length)} Each call of Workers KV and of the queue takes 5, 20 or 100 ms. *Waits* are the calls that a request waits for in turn; calls made at the same time count once. A *cold* request is the first of its unit in an isolate, a *warm* one follows within 10 s. The other columns are milliseconds until the answer: p50 / p99. A repeat comes to another isolate; nobody waits for a delivery, which also sends the e-mail.`,
    table(["request", "waits: cold / warm", ...heads], rows),
  ].join("\n\n");
}

function range(answers) {
  const waits = answers.map((answer) => answer.waits);
  const [least, most] = [Math.min(...waits), Math.max(...waits)];
  return least === most ? `${least}` : `${least}–${most}`;
}

function quantiles(answers) {
  const times = answers.map(({ milliseconds }) => milliseconds);
  return [0.5, 0.99].map((share) => figure(quantile(times, share))).join(" / ");
}
