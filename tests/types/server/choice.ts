// A server's page that writes a choice compiles without the DOM's types.
import "impact-pledge/choice";
import type { ImpactChoiceAttributes } from "impact-pledge/choice";

export const attributes: ImpactChoiceAttributes = { price: "0.50", currency: "EUR" };
