import { ODD, ahead, extra, kind, tape, text, wellFormed } from "../validate/tape.js";

const { isArray } = Array;
const { hasOwnProperty, valueOf } = Object.prototype;

export function request(v) {
  if (v.toJSON !== undefined || v.valueOf !== valueOf) throw ODD;
  let names, a, b, c, d, e;
  for (const key in v) {
    if (!hasOwnProperty.call(v, key)) continue;
    switch (key) {
      case "reference": a = v.reference; break;
      case "recipient": b = v.recipient; break;
      case "pledges": c = v.pledges; break;
      case "trigger": d = v.trigger; break;
      case "notifications": e = v.notifications; break;
      default: names = extra(v[key], key, names);
    }
  }
  let there = 0, odd = 0;
  if (typeof a === "string") { if (!wellFormed(a)) throw ODD; there |= 1; } else if (a !== undefined) odd |= kind(a);
  if (typeof b === "object" && b !== null && !isArray(b)) there |= 2; else if (b !== undefined) odd |= kind(b) << 4;
  if (isArray(c)) there |= 4; else if (c !== undefined) odd |= kind(c) << 8;
  if (typeof d === "object" && d !== null && !isArray(d)) there |= 8; else if (d !== undefined) odd |= kind(d) << 12;
  if (isArray(e)) there |= 16; else if (e !== undefined) odd |= kind(e) << 16;
  const first2 = there & 4 ? ahead(c, 6, pledge$) : 0;
  const first4 = there & 16 ? ahead(e, 23, notification$) : 0;
  if (names) odd |= names.length << 28;
  if (odd || (there & 7) !== 7) tape.fine = false;
  if (odd) { tape.words[tape.w++] = there | 1 << 31; tape.words[tape.w++] = odd; } else tape.words[tape.w++] = there;
  if (there & 2) recipient(b);
  if (there & 4) { if (c.length < 1) tape.fine = false; items(c, first2, pledge$); }
  if (there & 8) trigger(d);
  if (there & 16) { if (e.length > 3) tape.fine = false; items(e, first4, notification$); }
  if (names) tape.names.push(...names);
}
const items = (v, first, item) => {
  const { length } = v;
  tape.words[tape.w++] = length;
  tape.words[tape.w++] = first;
  tape.words[tape.w++] = length - first;
  for (let i = first; i < length; i++) item(v[i]);
};
const pledge$ = (v) => {
  if (typeof v === "object" && v !== null && !isArray(v)) { tape.words[tape.w++] = 0; pledge(v); } else { tape.fine = false; tape.words[tape.w++] = kind(v); }
};
const notification$ = (v) => {
  if (v === "Email" || v === "MessagingServiceA" || v === "MessagingServiceB" || v === "MessagingServiceC") tape.words[tape.w++] = 0; else { tape.fine = false; tape.words[tape.w++] = kind(v); }
};
function recipient(v) {
  if (v.toJSON !== undefined || v.valueOf !== valueOf) throw ODD;
  let names, a, b, c;
  for (const key in v) {
    if (!hasOwnProperty.call(v, key)) continue;
    switch (key) {
      case "email": a = v.email; break;
      case "firstName": b = v.firstName; break;
      case "name": c = v.name; break;
      default: names = extra(v[key], key, names);
    }
  }
  let there = 0, odd = 0;
  if (typeof a === "string") there |= 1; else if (a !== undefined) odd |= kind(a);
  if (typeof b === "string") { if (!wellFormed(b)) throw ODD; there |= 2; } else if (b !== undefined) odd |= kind(b) << 4;
  if (typeof c === "string") { if (!wellFormed(c)) throw ODD; there |= 4; } else if (c !== undefined) odd |= kind(c) << 8;
  if (names) odd |= names.length << 28;
  if (odd || (there & 1) !== 1) tape.fine = false;
  if (odd) { tape.words[tape.w++] = there | 1 << 31; tape.words[tape.w++] = odd; } else tape.words[tape.w++] = there;
  if (there & 1) { text(a, 1); }
  if (names) tape.names.push(...names);
}
function trigger(v) {
  if (v.toJSON !== undefined || v.valueOf !== valueOf) throw ODD;
  let names, a, b, c;
  for (const key in v) {
    if (!hasOwnProperty.call(v, key)) continue;
    switch (key) {
      case "date": a = v.date; break;
      case "phrase": b = v.phrase; break;
      case "externalUrl": c = v.externalUrl; break;
      default: names = extra(v[key], key, names);
    }
  }
  let there = 0, odd = 0;
  if (typeof a === "string") there |= 1; else if (a !== undefined) odd |= kind(a);
  if (typeof b === "string") { if (!wellFormed(b)) throw ODD; there |= 2; } else if (b !== undefined) odd |= kind(b) << 4;
  if (typeof c === "string") there |= 4; else if (c !== undefined) odd |= kind(c) << 8;
  if (names) odd |= names.length << 28;
  if (odd) tape.fine = false;
  if (odd) { tape.words[tape.w++] = there | 1 << 31; tape.words[tape.w++] = odd; } else tape.words[tape.w++] = there;
  if (there & 1) { text(a, 3); }
  if (there & 4) { text(c, 2); }
  if (names) tape.names.push(...names);
}
function pledge(v) {
  if (v.toJSON !== undefined || v.valueOf !== valueOf) throw ODD;
  let names, a, b;
  for (const key in v) {
    if (!hasOwnProperty.call(v, key)) continue;
    switch (key) {
      case "impact": a = v.impact; break;
      case "detail": b = v.detail; break;
      default: names = extra(v[key], key, names);
    }
  }
  let there = 0, odd = 0;
  if (typeof a === "object" && a !== null && !isArray(a)) there |= 1; else if (a !== undefined) odd |= kind(a);
  if (typeof b === "object" && b !== null && !isArray(b)) there |= 2; else if (b !== undefined) odd |= kind(b) << 4;
  if (names) odd |= names.length << 28;
  if (odd || (there & 1) !== 1) tape.fine = false;
  if (odd) { tape.words[tape.w++] = there | 1 << 31; tape.words[tape.w++] = odd; } else tape.words[tape.w++] = there;
  if (there & 1) impact(a);
  if (there & 2) detail(b);
  if (names) tape.names.push(...names);
}
function impact(v) {
  if (v.toJSON !== undefined || v.valueOf !== valueOf) throw ODD;
  let names, a, b;
  for (const key in v) {
    if (!hasOwnProperty.call(v, key)) continue;
    switch (key) {
      case "amount": a = v.amount; break;
      case "offeringId": b = v.offeringId; break;
      default: names = extra(v[key], key, names);
    }
  }
  let there = 0, odd = 0;
  if (typeof a === "number") there |= 1; else if (a !== undefined) odd |= kind(a);
  if (typeof b === "string") { if (!wellFormed(b)) throw ODD; there |= 2; } else if (b !== undefined) odd |= kind(b) << 4;
  if (names) odd |= names.length << 28;
  if (odd || (there & 3) !== 3) tape.fine = false;
  if (odd) { tape.words[tape.w++] = there | 1 << 31; tape.words[tape.w++] = odd; } else tape.words[tape.w++] = there;
  if (there & 1) tape.numbers[tape.n++] = a;
  if (names) tape.names.push(...names);
}
function detail(v) {
  if (v.toJSON !== undefined || v.valueOf !== valueOf) throw ODD;
  let names, a, b, c, d, e, f, g;
  for (const key in v) {
    if (!hasOwnProperty.call(v, key)) continue;
    switch (key) {
      case "name": a = v.name; break;
      case "description": b = v.description; break;
      case "nounSingular": c = v.nounSingular; break;
      case "nounPlural": d = v.nounPlural; break;
      case "image": e = v.image; break;
      case "externalId": f = v.externalId; break;
      case "externalUrl": g = v.externalUrl; break;
      default: names = extra(v[key], key, names);
    }
  }
  let there = 0, odd = 0;
  if (typeof a === "string") { if (!wellFormed(a)) throw ODD; there |= 1; } else if (a !== undefined) odd |= kind(a);
  if (typeof b === "string") { if (!wellFormed(b)) throw ODD; there |= 2; } else if (b !== undefined) odd |= kind(b) << 4;
  if (typeof c === "string") { if (!wellFormed(c)) throw ODD; there |= 4; } else if (c !== undefined) odd |= kind(c) << 8;
  if (typeof d === "string") { if (!wellFormed(d)) throw ODD; there |= 8; } else if (d !== undefined) odd |= kind(d) << 12;
  if (typeof e === "string") there |= 16; else if (e !== undefined) odd |= kind(e) << 16;
  if (typeof f === "string") { if (!wellFormed(f)) throw ODD; there |= 32; } else if (f !== undefined) odd |= kind(f) << 20;
  if (typeof g === "string") there |= 64; else if (g !== undefined) odd |= kind(g) << 24;
  if (names) odd |= names.length << 28;
  if (odd) tape.fine = false;
  if (odd) { tape.words[tape.w++] = there | 1 << 31; tape.words[tape.w++] = odd; } else tape.words[tape.w++] = there;
  if (there & 16) { text(e, 2); }
  if (there & 64) { text(g, 2); }
  if (names) tape.names.push(...names);
}
