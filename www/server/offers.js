import { OFFERED } from "../shared/thanks.js";

/** The offerings of the shop. They are defined on the server, because data from a page cannot be trusted. */
const OFFERS = {
  tree: {
    name: "Shade trees",
    description: "Planted on the hills that our beans grow on.",
    nounSingular: "tree",
    nounPlural: "trees",
    image: "/images/tree.svg",
  },
  "plastic-kg": {
    name: "River plastic",
    description: "Picked out of rivers before it reaches the sea.",
    nounSingular: "kilo of plastic",
    nounPlural: "kilos of plastic",
    image: "/images/plastic.svg",
  },
};

/** Returns the offering IDs of an order that this shop does not offer. */
export const unknownOffers = ({ pledges }) =>
  pledges.map(({ impact }) => impact.offeringId).filter((id) => !Object.hasOwn(OFFERS, id));

/**
 * Returns the payload that the shop sends to the service. From the page come the order's reference, time,
 * recipient, amounts and wanted notifications. The server adds everything else, because a page cannot be
 * trusted.
 */
export function vouched({ reference, recipient, pledges, trigger, ...wanted }, origin) {
  const notifications = notificationsOf(wanted);
  return {
    reference,
    recipient,
    ...(notifications.length > 0 && { notifications }),
    pledges: pledges.map(({ impact }) => ({ impact, detail: detail(impact.offeringId, origin) })),
    trigger: {
      date: trigger?.date ?? new Date().toISOString(),
      phrase: "placed an order at Small Hours Coffee",
      externalUrl: `${origin}/`,
    },
  };
}

/** Returns the wanted notifications that the shop offers. @param {{notifications?: readonly string[]}} order */
export const notificationsOf = ({ notifications = [] }) =>
  OFFERED.filter((type) => notifications.includes(type));

/** Returns the pledges that the shopper added to an order, in the form that the thank-you page shows. */
export const added = ({ pledges }) =>
  pledges.map(({ impact: { amount, offeringId } }) => {
    const { nounSingular, nounPlural, image } = OFFERS[offeringId];
    return { amount, nounSingular, nounPlural, image };
  });

function detail(id, origin) {
  const offer = OFFERS[id];
  return { ...offer, image: origin + offer.image, externalId: id };
}
