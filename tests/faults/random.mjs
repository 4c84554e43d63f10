/** Numbers that follow from a seed. */
import { createHash } from "node:crypto";

export class Random {
  /** @param {...(number | string | null)} seed equal ones give equal numbers */
  constructor(...seed) {
    this.state = createHash("md5").update(seed.join()).digest().readUInt32LE();
  }

  /** From 0, below 1: one step of Mulberry32. */
  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below = (bound) => Math.floor(this.next() * bound);
  chance = (share) => this.next() < share;
  pick = (items) => items[this.below(items.length)];
  text = (length) => Array.from({ length }, () => this.below(36).toString(36)).join("");
}
