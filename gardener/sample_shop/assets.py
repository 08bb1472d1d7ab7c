"""What the shop serves beside its pages: a stylesheet, a script, and a drawn picture of each product."""

from dataclasses import dataclass

from gardener.sample_shop.state import PRODUCTS, Product


@dataclass(frozen=True, slots=True)
class Asset:
    text: str
    kind: str


def find(name: str) -> Asset | None:
    slug = name.removeprefix("pictures/").removesuffix(".svg")
    if name.startswith("pictures/") and slug in PRODUCTS:
        return Asset(picture(PRODUCTS[slug]), "image/svg+xml")
    return FILES.get(name)


def picture(product: Product) -> str:
    """A drawing of the product: one outline a category, in the colour of its glaze."""
    shape = SMALL_CUP if product.slug == "espresso-cup" else SHAPES[product.category]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 180 140">'
        '<rect width="180" height="140" fill="#f3eee6"/>'
        '<ellipse cx="90" cy="118" rx="62" ry="7" fill="#00000018"/>'
        f"{shape.replace('GLAZE', product.glaze)}</svg>"
    )


SHAPES = {
    "mugs": (
        '<path d="M118 56c26-6 30 38-2 38" fill="none" stroke="GLAZE" stroke-width="9"/>'
        '<path d="M52 38h68v56c0 16-10 24-34 24s-34-8-34-24z" fill="GLAZE"/>'
        '<ellipse cx="86" cy="38" rx="34" ry="7" fill="GLAZE"/>'
        '<ellipse cx="86" cy="38" rx="34" ry="7" fill="#fff8"/><path d="M58 92h56v6H58z" fill="#0002"/>'
    ),
    "teapots": (
        '<path d="M128 62c28-4 24 38-8 36" fill="none" stroke="GLAZE" stroke-width="8"/>'
        '<path d="M54 84 24 54l10-4 32 22z" fill="GLAZE"/><ellipse cx="90" cy="84" rx="44" ry="34" fill="GLAZE"/>'
        '<path d="M64 56c8-14 44-14 52 0z" fill="GLAZE"/><circle cx="90" cy="40" r="6" fill="GLAZE"/>'
        '<path d="M60 57h60v4H60z" fill="#fff6"/>'
    ),
    "bowls": (
        '<path d="M32 62h116c0 38-26 54-40 54H72c-14 0-40-16-40-54z" fill="GLAZE"/>'
        '<ellipse cx="90" cy="62" rx="58" ry="12" fill="GLAZE"/>'
        '<ellipse cx="90" cy="62" rx="58" ry="12" fill="#fff7"/><path d="M42 86h96l-3 7H45z" fill="#0002"/>'
    ),
    "plates": (
        '<ellipse cx="90" cy="84" rx="70" ry="34" fill="GLAZE"/><ellipse cx="90" cy="80" rx="70" ry="33" fill="#fff3"/>'
        '<ellipse cx="90" cy="80" rx="44" ry="19" fill="GLAZE"/><ellipse cx="90" cy="80" rx="44" ry="19" fill="#fff5"/>'
    ),
}
SMALL_CUP = (
    '<path d="M108 74c18-4 20 24-2 24" fill="none" stroke="GLAZE" stroke-width="7"/>'
    '<path d="M66 62h44v36c0 12-8 18-22 18s-22-6-22-18z" fill="GLAZE"/>'
    '<ellipse cx="88" cy="62" rx="22" ry="5" fill="GLAZE"/>'
    '<ellipse cx="88" cy="62" rx="22" ry="5" fill="#fff8"/>'
)

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#24485c"/>'
    '<path d="M8 10h14v10c0 3-2 5-7 5s-7-2-7-5zm14 2c6-1 6 8 0 8" fill="none" stroke="#fff" stroke-width="2.5"/></svg>'
)

STYLE = """
:root { --accent: #24485c; --ink: #25231f; --quiet: #6d675e; --line: #e2dbcf; --paper: #fbf9f5; --warm: #f3eee6; }
.fresh { --accent: #7a3b2a; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; color: var(--ink);
  background: var(--paper); min-height: 100vh; display: flex; flex-direction: column; }
a { color: var(--accent); }
h1, h2, .brand { font-family: Georgia, "Times New Roman", serif; font-weight: 600; line-height: 1.2; }
h1 { font-size: 2rem; margin: 0 0 1rem; }
h2 { font-size: 1.3rem; margin: 0 0 .6rem; }
main { flex: 1; width: min(68rem, 100% - 2.5rem); margin: 2rem auto 3rem; }
section { margin-top: 2.2rem; }
.site-header { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem 2rem; padding: .9rem 1.5rem;
  background: #fff; border-bottom: 1px solid var(--line); }
.site-header a { text-decoration: none; }
.brand { font-size: 1.35rem; }
nav { display: flex; flex-wrap: wrap; gap: 1.3rem; flex: 1; }
nav a { color: var(--ink); }
.account { display: flex; flex-wrap: wrap; align-items: center; gap: 1rem; }
.account form { margin: 0; }
.hello { color: var(--quiet); }
.badge { background: var(--accent); color: #fff; border-radius: 1rem; padding: .05rem .55rem; font-size: .85rem; }
.site-footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem; padding: 1.1rem 1.5rem;
  background: var(--warm); color: var(--quiet); font-size: .88rem; }
.hero { margin: 0; padding: 3rem 2.5rem; border-radius: 14px; color: #fff;
  background: linear-gradient(120deg, var(--accent), #6f8f8e); }
.hero h1 { font-size: 2.5rem; margin-bottom: .4rem; }
.hero p { margin: 0 0 1.4rem; font-size: 1.1rem; }
.hero .btn { background: #fff; border-color: #fff; color: var(--accent); }
.promos, .grid, .lines { list-style: none; padding: 0; margin: 0; }
.promos { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; margin-top: 1rem; }
.promo { background: var(--warm); border-radius: 10px; padding: .8rem 1.1rem; font-size: .94rem; }
.promo strong { display: block; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1.2rem; }
.product-card { background: #fff; border: 1px solid var(--line); border-radius: 12px; overflow: hidden;
  display: flex; flex-direction: column; }
.product-card[hidden] { display: none; }
.product-card a { text-decoration: none; color: var(--ink); font-weight: 600; }
.product-card img { display: block; width: 100%; height: auto; }
.product-name { display: block; padding: .8rem 1rem 0; }
.price { color: var(--quiet); }
.product-card .price { padding: 0 1rem .9rem; }
.filters { display: flex; flex-wrap: wrap; align-items: center; gap: 1rem; margin-bottom: 1.4rem; }
.filters input { width: 15rem; margin-left: auto; }
.chips { display: flex; gap: .5rem; }
.chip { border: 1px solid var(--line); border-radius: 2rem; padding: .25rem .9rem; text-decoration: none;
  background: #fff; }
.chip-on { background: var(--accent); border-color: var(--accent); color: #fff; }
#result-count, .crumbs { color: var(--quiet); }
.product { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 2.5rem; }
.product img { width: 100%; height: auto; border-radius: 14px; }
.product .price { font-size: 1.3rem; margin: 0; }
.buy-box, .buy_k29d { display: flex; align-items: center; gap: 1rem; margin: 1.5rem 0; }
.stepper { display: flex; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: #fff; }
.stepper input { width: 3rem; border: 0; border-radius: 0; text-align: center; padding: .5rem 0; }
.step { border: 0; background: var(--warm); width: 2.4rem; font-size: 1.1rem; cursor: pointer; }
.btn, .btn_x7f3a { display: inline-block; font: inherit; font-weight: 600; border: 1px solid var(--line);
  border-radius: 8px; padding: .5rem 1.1rem; background: #fff; color: var(--ink); cursor: pointer;
  text-decoration: none; }
.btn-primary, .btn_x7f3a { background: var(--accent); border-color: var(--accent); color: #fff; }
.btn-quiet { padding: .25rem .7rem; font-weight: 400; color: var(--accent); }
details { border-top: 1px solid var(--line); padding-top: .8rem; }
summary { cursor: pointer; font-weight: 600; }
table { width: 100%; border-collapse: collapse; background: #fff; border: 1px solid var(--line); border-radius: 10px;
  overflow: hidden; }
th, td { text-align: left; padding: .7rem 1rem; border-bottom: 1px solid var(--line); }
th { background: var(--warm); font-size: .88rem; color: var(--quiet); }
.actions { display: flex; gap: .5rem; justify-content: flex-end; }
.beside { display: grid; grid-template-columns: 1fr 20rem; gap: 2rem; margin-top: 1.5rem; align-items: start; }
.sum p, .lines li, .grand { display: flex; justify-content: space-between; margin: 0 0 .5rem; gap: 1rem; }
.grand { font-size: 1.15rem; border-top: 1px solid var(--line); padding-top: .6rem; }
.sum .btn { width: 100%; text-align: center; margin-top: .6rem; }
.panel { background: #fff; border: 1px solid var(--line); border-radius: 12px; padding: 1.4rem 1.6rem; }
.narrow { max-width: 26rem; }
.stacked { display: grid; gap: .35rem; max-width: 36rem; }
.stacked label { font-weight: 600; margin-top: .6rem; }
.stacked .btn { margin-top: 1.1rem; justify-self: start; }
.inline { display: flex; flex-wrap: wrap; align-items: center; gap: .8rem; }
.tick { display: flex; align-items: center; gap: .6rem; font-weight: 400; }
.tick input { width: auto; }
input, select, textarea { font: inherit; color: inherit; width: 100%; padding: .5rem .7rem; border-radius: 8px;
  border: 1px solid #cfc6b8; background: #fff; }
.inline input { width: 16rem; }
:focus-visible { outline: 3px solid #d99f5b; outline-offset: 2px; }
.notice, .error { margin: 0 0 1.3rem; padding: .7rem 1.1rem; border-radius: 8px; background: #e4efe2; color: #2c4a2a; }
.error { background: #f8e3dd; color: #7b2717; }
.gift { max-width: 26rem; margin-top: 1.5rem; padding: 2rem; border-radius: 14px; color: #fff;
  background: var(--accent); }
.scrim { position: fixed; inset: 0; z-index: 10; display: grid; place-items: center; padding: 1rem;
  background: rgb(30 26 20 / .55); }
.scrim[hidden] { display: none; }
.consent { background: #fff; border-radius: 14px; padding: 1.6rem 1.8rem; max-width: 34rem; }
.consent fieldset { border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0; }
.consent fieldset .btn { margin-top: .7rem; }
.choices { display: flex; flex-wrap: wrap; gap: .7rem; }
@media (max-width: 46rem) { .beside { grid-template-columns: 1fr; } .filters input { margin-left: 0; } }
"""

SCRIPT = """
'use strict';

// The quantity stepper of a product page.
for (const button of document.querySelectorAll('[data-step]')) {
  button.addEventListener('click', () => {
    const field = button.parentElement.querySelector('input');
    const wanted = (parseInt(field.value, 10) || 1) + Number(button.dataset.step);
    field.value = String(Math.min(20, Math.max(1, wanted)));
  });
}

// The filter above the products.
const filter = document.getElementById('product-filter');
if (filter) {
  filter.addEventListener('input', () => {
    const wanted = filter.value.trim().toLowerCase();
    const cards = [...document.querySelectorAll('.product-card')];
    for (const card of cards) card.hidden = !card.dataset.name.includes(wanted);
    const shown = cards.filter((card) => !card.hidden).length;
    document.getElementById('result-count').textContent = shown === 1 ? '1 product' : `${shown} products`;
  });
}

// Forms that ask before they take something away.
for (const form of document.querySelectorAll('form[data-confirm]')) {
  form.addEventListener('submit', (event) => {
    if (!window.confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// How long the delivery to a country takes.
for (const button of document.querySelectorAll('[data-note]')) {
  button.addEventListener('click', () => {
    document.getElementById('zone-note').textContent = button.dataset.note;
  });
}

// The question before the map of the contact page.
const consent = document.getElementById('consent');
if (consent) {
  document.getElementById('consent-settings').addEventListener('click', () => {
    document.getElementById('consent-details').hidden = false;
  });
  for (const button of consent.querySelectorAll('[data-consent]')) {
    button.addEventListener('click', () => {
      const map = document.getElementById('consent-map').checked;
      const choice = button.dataset.consent === 'chosen' ? (map ? 'all' : 'needed') : button.dataset.consent;
      document.cookie = `consent=${choice}; path=/; samesite=lax`;
      consent.hidden = true;
    });
  }
}
"""

FILES = {
    "shop.css": Asset(STYLE, "text/css"),
    "shop.js": Asset(SCRIPT, "text/javascript"),
    "icon.svg": Asset(ICON, "image/svg+xml"),
}
