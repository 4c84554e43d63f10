/** Whether the form holds a field of this name that the shopper cannot see. */
export const isHidden = (name) =>
  name === "reference" || name.startsWith("trigger.") || name.endsWith(".offeringId");
