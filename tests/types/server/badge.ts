// A server's code that writes what is pledged compiles without the DOM's types.
import { impactText } from "impact-pledge/badge";

export const text: string = impactText({ amount: 3, lang: "en", one: "tree", other: "trees" });
