import "impact-pledge/badge";
import { bindForm } from "impact-pledge/form";

const answer = document.querySelector("#answer");

document.querySelector("#trees").addEventListener("input", ({ target }) => {
  document.querySelector("impact-badge").setAttribute("amount", target.value);
});

bindForm(document.querySelector("form"), {
  // Your own texts, by issue code. The others stay in English.
  messages: {
    required: "Please fill this in.",
    invalid_email: "This is not an e-mail address yet.",
  },
  // Called only with a valid payload. Your server has the key and records the pledge.
  async onSubmit(payload) {
    answer.textContent = "Placing your order…";
    try {
      const response = await fetch("/orders", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(payload),
      });
      const { timelineUrl, message } = await response.json();
      if (response.ok) location.assign(timelineUrl);
      else answer.textContent = message;
    } catch {
      answer.textContent = "That did not work. Please try again.";
    }
  },
});
