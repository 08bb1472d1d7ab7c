"use strict";
// Where a row was put in the place of another, the focus stays with it instead of falling back to the page.
document.addEventListener("htmx:afterSwap", (event) => {
  const target = event.detail.target;
  if (!target || !target.id) return;
  const now = document.getElementById(target.id);
  if (now && now.hasAttribute("tabindex") && !now.contains(document.activeElement)) now.focus({ preventScroll: true });
});
// A form that is on its way is not sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  if (form.method !== "post" || form.hasAttribute("hx-post")) return;
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
// A job that is watched: lines are added as they come, its state is put in the place of the one before. The server
// ends the stream with "done"; a stream that breaks off is asked for again by the browser, from the last line it saw.
for (const box of document.querySelectorAll("[data-stream]")) {
  const stream = new EventSource(box.dataset.stream);
  stream.addEventListener("line", (event) => box.querySelector("[data-on=line]").insertAdjacentHTML("beforeend", event.data));
  stream.addEventListener("state", (event) => { box.querySelector("[data-on=state]").innerHTML = event.data; });
  stream.addEventListener("done", () => stream.close());
  window.addEventListener("pagehide", () => stream.close());
}
