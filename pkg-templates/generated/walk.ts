// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

import { checkNumber, checkText, isObject, isText, notPlain, reportMember, reportNotAllowed, reportUnknown, walkItems, withUnknown } from "../validate/walk.ts";

const { valueOf } = Object.prototype;
// Ordinary texts of the formats, from `src/pledges/validate/format.rs`.
const EMAIL = /^[\w'+-]+(?:\.[\w'+-]+(?:\.[\w'+-]+|)|)@[A-Za-z\d]+(?:[.-][A-Za-z\d]+(?:[.-][A-Za-z\d]+(?:[.-][A-Za-z\d]+(?:[.-][A-Za-z\d]+|)|)|)|)$/;
const URI = /^https?:\/\/[\w.-]+(?::\d+|)(?:[/?][!$&-;=?-Z_a-z~]*(?:%[A-Fa-f\d]{2}[!$&-;=?-Z_a-z~]*)*|)(?:#[!$&-;=?-Z_a-z~]*(?:%[A-Fa-f\d]{2}[!$&-;=?-Z_a-z~]*)*|)$/;
const DATE_TIME = /^\d\d\d\d-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+|)(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

export function walkRequest(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 0);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown;
  if (value.toJSON || value.valueOf !== valueOf) notPlain();
  for (name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "reference": a = value.reference; break;
      case "recipient": b = value.recipient; break;
      case "pledges": c = value.pledges; break;
      case "trigger": d = value.trigger; break;
      case "notifications": e = value.notifications; break;
      default: names = withUnknown(names, name, value[name]);
    }
  }
  if (!isText(a)) reportMember(a, 1);
  walkRecipient(b);
  walkItems(c, 6, 1, Infinity, walkPledge);
  if (d !== undefined) walkTrigger(d);
  if (e !== undefined) walkItems(e, 23, 0, 3, walkNotification);
  if (names) reportUnknown(names, 0);
}

function walkRecipient(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 2);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown;
  if (value.toJSON || value.valueOf !== valueOf) notPlain();
  for (name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "email": a = value.email; break;
      case "firstName": b = value.firstName; break;
      case "name": c = value.name; break;
      default: names = withUnknown(names, name, value[name]);
    }
  }
  checkText(a, 3, 1, EMAIL);
  if (!isText(b)) reportMember(b, 4);
  if (!isText(c)) reportMember(c, 5);
  if (names) reportUnknown(names, 2);
}

function walkPledge(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 7);
  let name: string, names: string[] | undefined, a: unknown, b: unknown;
  if (value.toJSON || value.valueOf !== valueOf) notPlain();
  for (name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "impact": a = value.impact; break;
      case "detail": b = value.detail; break;
      default: names = withUnknown(names, name, value[name]);
    }
  }
  walkImpact(a);
  if (b !== undefined) walkDetail(b);
  if (names) reportUnknown(names, 7);
}

function walkImpact(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 8);
  let name: string, names: string[] | undefined, a: unknown, b: unknown;
  if (value.toJSON || value.valueOf !== valueOf) notPlain();
  for (name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "amount": a = value.amount; break;
      case "offeringId": b = value.offeringId; break;
      default: names = withUnknown(names, name, value[name]);
    }
  }
  checkNumber(a, 9);
  if (!isText(b)) reportMember(b, 10);
  if (names) reportUnknown(names, 8);
}

function walkDetail(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 11);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown, f: unknown, g: unknown;
  if (value.toJSON || value.valueOf !== valueOf) notPlain();
  for (name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "name": a = value.name; break;
      case "description": b = value.description; break;
      case "nounSingular": c = value.nounSingular; break;
      case "nounPlural": d = value.nounPlural; break;
      case "image": e = value.image; break;
      case "externalId": f = value.externalId; break;
      case "externalUrl": g = value.externalUrl; break;
      default: names = withUnknown(names, name, value[name]);
    }
  }
  if (!isText(a)) reportMember(a, 12);
  if (!isText(b)) reportMember(b, 13);
  if (!isText(c)) reportMember(c, 14);
  if (!isText(d)) reportMember(d, 15);
  checkText(e, 16, 2, URI);
  if (!isText(f)) reportMember(f, 17);
  checkText(g, 18, 2, URI);
  if (names) reportUnknown(names, 11);
}

function walkTrigger(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 19);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown;
  if (value.toJSON || value.valueOf !== valueOf) notPlain();
  for (name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "date": a = value.date; break;
      case "phrase": b = value.phrase; break;
      case "externalUrl": c = value.externalUrl; break;
      default: names = withUnknown(names, name, value[name]);
    }
  }
  checkText(a, 20, 3, DATE_TIME);
  if (!isText(b)) reportMember(b, 21);
  checkText(c, 22, 2, URI);
  if (names) reportUnknown(names, 19);
}

function walkNotification(text: unknown): void {
  if (text !== "Email" && text !== "MessagingServiceA" && text !== "MessagingServiceB" && text !== "MessagingServiceC") reportNotAllowed(text, 24);
}
