/** Numbers that follow from a seed. */
import { createHash } from "node:crypto";
import { mulberry32 } from "../../pkg-templates/testing/random.ts";

export class Random {
  /** @param {...(number | string | null)} seed equal ones give equal numbers */
  constructor(...seed) {
    this.bits = mulberry32(createHash("md5").update(seed.join()).digest().readUInt32LE());
  }

  /** From 0, below 1. */
  next = () => (this.bits() >>> 0) / 2 ** 32;
  below = (bound) => Math.floor(this.next() * bound);
  chance = (share) => this.next() < share;
  pick = (items) => items[this.below(items.length)];
  text = (length) => Array.from({ length }, () => this.below(36).toString(36)).join("");
}
