/**
 * Sends thousands of create requests to workerd with local D1, kills the Workers, and compares the ledger with KV.
 * Set `CREATES`, `KILLS` and `SEED` for another run.
 */
import test from "node:test";
import { duration, log } from "../../../scripts/lib/output.mjs";
import { prove } from "./proof.mjs";

const SHOWN_EVERY = 1_000;
const creates = Number(process.env.CREATES ?? 20_000);
const started = Date.now();

const plan = {
  creates,
  kills: Number(process.env.KILLS ?? 30),
  seed: Number(process.env.SEED ?? started),
  old: Math.ceil(creates / 100),
  isTimely: true,
  progress(done) {
    if (done % SHOWN_EVERY === 0)
      log(`ledger: ${done} of ${creates} creates after ${duration(Date.now() - started)}`);
  },
};

test(`after ${creates} creates with kills the ledger equals KV`, (t) => prove(t, plan));
