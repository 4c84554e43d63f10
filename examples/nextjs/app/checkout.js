"use client";
import { bindForm } from "impact-pledge/form";
import { useEffect, useRef, useState } from "react";

export function Checkout() {
  const form = useRef(null);
  const [answer, setAnswer] = useState("");

  useEffect(
    () => bindForm(form.current, { onSubmit: (payload) => placeOrder(payload, setAnswer) }).unbind,
    [],
  );

  return (
    <form ref={form} method="post" action="/api/orders">
      <input type="hidden" name="reference" value="order-1001" readOnly />
      <input type="hidden" name="pledges.0.impact.offeringId" value="tree" readOnly />
      <p>
        <label htmlFor="trees">Trees</label>{" "}
        <input id="trees" name="pledges.0.impact.amount" type="number" max="100" />
      </p>
      <p>
        <label htmlFor="email">E-mail address</label>{" "}
        <input id="email" name="recipient.email" type="email" autoComplete="email" />
      </p>
      <button type="submit">Place order</button>
      <p>{answer}</p>
    </form>
  );
}

async function placeOrder(payload, say) {
  say("Placing your order…");
  try {
    const response = await fetch("/api/orders", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(payload),
    });
    const { timelineUrl, message } = await response.json();
    if (response.ok) location.assign(timelineUrl);
    else say(message);
  } catch {
    say("That did not work. Please try again.");
  }
}
