// generated from src/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

import { addText, checkNumber, isObject, isText, notPlain, reportMember, reportNotAllowed, reportUnknown, walkItems, withUnknown } from "../validate/walk.ts";

const { valueOf } = Object.prototype;

export function walkRequest(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 0);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown;
  try {
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
  } catch { notPlain(); }
  if (!isText(a)) reportMember(a, 1);
  walkRecipient(b);
  walkItems(c, 6, 1, Infinity, walkPledge);
  walkTrigger(d);
  walkItems(e, 23, 0, 3, walkNotification);
  if (names) reportUnknown(names, 0);
}

function walkRecipient(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 2);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown;
  try {
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
  } catch { notPlain(); }
  addText(a, 35);
  if (!isText(b)) reportMember(b, 4);
  if (!isText(c)) reportMember(c, 5);
  if (names) reportUnknown(names, 2);
}

function walkPledge(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 7);
  let name: string, names: string[] | undefined, a: unknown, b: unknown;
  try {
    if (value.toJSON || value.valueOf !== valueOf) notPlain();
    for (name in value) {
      if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
      switch (name) {
        case "impact": a = value.impact; break;
        case "detail": b = value.detail; break;
        default: names = withUnknown(names, name, value[name]);
      }
    }
  } catch { notPlain(); }
  walkImpact(a);
  walkDetail(b);
  if (names) reportUnknown(names, 7);
}

function walkImpact(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 8);
  let name: string, names: string[] | undefined, a: unknown, b: unknown;
  try {
    if (value.toJSON || value.valueOf !== valueOf) notPlain();
    for (name in value) {
      if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
      switch (name) {
        case "amount": a = value.amount; break;
        case "offeringId": b = value.offeringId; break;
        default: names = withUnknown(names, name, value[name]);
      }
    }
  } catch { notPlain(); }
  checkNumber(a, 9);
  if (!isText(b)) reportMember(b, 10);
  if (names) reportUnknown(names, 8);
}

function walkDetail(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 11);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown, f: unknown, g: unknown;
  try {
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
  } catch { notPlain(); }
  if (!isText(a)) reportMember(a, 12);
  if (!isText(b)) reportMember(b, 13);
  if (!isText(c)) reportMember(c, 14);
  if (!isText(d)) reportMember(d, 15);
  addText(e, 80);
  if (!isText(f)) reportMember(f, 17);
  addText(g, 82);
  if (names) reportUnknown(names, 11);
}

function walkTrigger(value: unknown): void {
  if (!isObject(value)) return reportMember(value, 19);
  let name: string, names: string[] | undefined, a: unknown, b: unknown, c: unknown;
  try {
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
  } catch { notPlain(); }
  addText(a, 116);
  if (!isText(b)) reportMember(b, 21);
  addText(c, 86);
  if (names) reportUnknown(names, 19);
}

function walkNotification(text: unknown): void {
  if (text !== "Email" && text !== "MessagingServiceA" && text !== "MessagingServiceB" && text !== "MessagingServiceC") reportNotAllowed(text, 24);
}
