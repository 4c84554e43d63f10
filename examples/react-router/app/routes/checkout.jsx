import { bindForm } from "impact-pledge/form";
import { useEffect, useRef } from "react";
import { data, redirect } from "react-router";
import { placeOrder } from "../order.server.js";

/** Receives the posted form. The page's script lets only valid forms through; without JavaScript, any form arrives. */
export async function action({ request }) {
  const { status, timelineUrl, ...answer } = await placeOrder(request);
  return timelineUrl ? redirect(timelineUrl, 303) : data(answer, { status });
}

export default function Checkout({ actionData }) {
  const { values = {}, issues = [], message = "" } = actionData ?? {};
  const form = useRef(null);
  const binding = useRef(null);
  useEffect(() => {
    binding.current = bindForm(form.current);
    return binding.current.unbind;
  }, []);
  // Show the issues of the action: the form is already bound when React renders them.
  useEffect(() => {
    if (actionData?.issues) binding.current.report(actionData.issues);
  }, [actionData]);

  const field = (label, name, attributes) => {
    const problem = issues.find((issue) => issue.name === name)?.message;
    return (
      <p>
        <label htmlFor={name}>{label}</label>{" "}
        <input
          id={name}
          name={name}
          {...attributes}
          defaultValue={values[name]}
          aria-invalid={problem ? true : undefined}
          aria-describedby={`${name}-problem`}
        />{" "}
        <span id={`${name}-problem`} data-problem={name}>
          {problem}
        </span>
      </p>
    );
  };

  return (
    <main>
      <h1>Plant trees with your order</h1>
      <form ref={form} method="post">
        <input type="hidden" name="reference" value="order-1001" readOnly />
        <input type="hidden" name="pledges.0.impact.offeringId" value="tree" readOnly />
        {field("Trees", "pledges.0.impact.amount", { type: "number", min: 0, max: 100 })}
        {field("E-mail address", "recipient.email", { type: "email", autoComplete: "email" })}
        <button type="submit">Place order</button>
        <p role="status">{message}</p>
      </form>
    </main>
  );
}
