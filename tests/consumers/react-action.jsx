import { bindForm } from "impact-pledge/form";
import { useActionState, useEffect, useLayoutEffect, useRef } from "react";
import { createRoot } from "react-dom/client";

const isKept = location.search.includes("kept"); // whether the server's answer fills the fields again

const useReport = location.search.includes("layout") ? useLayoutEffect : useEffect;

/** Stands for the shop's server, which finds what the rules cannot know. */
async function placeOrder(_, data) {
  window.sent = (window.sent ?? 0) + 1;
  await new Promise((done) => setTimeout(done, 10));
  const values = isKept ? Object.fromEntries(data) : {};
  return {
    values,
    issues: [
      { path: ["recipient", "email"], message: "We know it." },
      { path: ["coupon"], message: "This coupon has expired." },
      { message: "Closed." },
    ],
  };
}

function Checkout() {
  const form = useRef(null);
  const binding = useRef(null);
  const [answer, action] = useActionState(placeOrder, null);
  useEffect(() => {
    binding.current = bindForm(form.current);
    return () => binding.current.unbind();
  }, []);
  useReport(() => {
    if (answer) binding.current.report(answer.issues);
  }, [answer]);
  const field = (name, id) => (
    <input
      id={id}
      name={name}
      defaultValue={answer?.values[name]}
      aria-describedby={answer ? "hint more" : "hint"}
    />
  );
  return (
    <form ref={form} action={action}>
      <input type="hidden" name="reference" value="order-1" />
      <input type="hidden" name="pledges.0.impact.offeringId" value="tree" />
      {field("pledges.0.impact.amount", "amount")}
      {field("recipient.email", "email")}
      {field("coupon", "coupon")}
      <p id="hint">Hint</p>
      <button type="submit" id="send">
        Send
      </button>
    </form>
  );
}

createRoot(document.querySelector("#root")).render(<Checkout />);
