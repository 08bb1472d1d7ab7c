"""Release 2 of the shop: what the team changed since the tests were recorded, and nothing else.

A page that is not written here is release 1's. Each comment names the change as the team would.
"""

from gardener.sample_shop import release1
from gardener.sample_shop.markup import (
    Page,
    Visit,
    cards,
    counted,
    guard,
    in_category,
    messages,
    money,
    options,
    promotions,
    text,
)
from gardener.sample_shop.state import CATEGORIES, PRODUCTS, WINDOWS, ZONES, Line, Product, Session

order, orders, settings, not_found = release1.order, release1.orders, release1.settings, release1.not_found

# Deliveries come in a window of the day now, so the checkout asks for one.
CHECKOUT_FIELDS: tuple[str, ...] = (*release1.CHECKOUT_FIELDS, "window")


def total(session: Session) -> int:
    # The bug of this release: the voucher is listed, but no longer taken off.
    return session.subtotal


def layout(page: Page, visit: Visit) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{text(page.title)} – Harbour Pottery</title>
  <link rel="icon" href="/assets/icon.svg">
  <link rel="stylesheet" href="/assets/shop.css?v=1187">
</head>
<body class="fresh">
  <header class="site-header">
    <a class="brand" href="/">Harbour Pottery</a>
    <nav aria-label="Main">
      <a href="/products">Products</a>
      <a href="/gift-card">Gift card</a>
      <a href="/delivery">Delivery</a>
      <a href="/contact">Contact</a>
    </nav>
    <div class="account">{release1.account(visit)}
      <a id="basket-link" href="/basket">Basket
        <span class="badge" data-testid="basket-count">{visit.session.pieces}</span></a>
    </div>
  </header>
  <main>{messages(visit)}{page.main}</main>
  <footer class="site-footer">
    <span>Harbour Pottery, 12 Quay Street</span>
    <span>Visitor {visit.visitors} today</span>
    <span>Stock checked at {visit.now:%H:%M:%S}</span>
  </footer>
  <script src="/assets/shop.js?v=1187"></script>
</body>
</html>
"""


def home(visit: Visit) -> Page:
    # The field of the newsletter got another id.
    return Page(
        "Stoneware from the harbour",
        f"""
  <section class="hero">
    <h1>Stoneware from the harbour</h1>
    <p>Thrown by hand, fired twice, and sent out in straw.</p>
    <a class="btn btn-primary" href="/products">See everything</a>
  </section>
  <ul class="promos">{promotions(visit)}</ul>
  <section>
    <h2>This month</h2>
    <ul class="grid">{cards(PRODUCTS[slug] for slug in release1.FEATURED)}</ul>
  </section>
  <section class="panel">
    <h2>A letter from the kiln</h2>
    <p>Four times a year, with what is new and what went wrong.</p>
    <form class="inline" method="post" action="/newsletter">
      {guard(visit)}
      <label for="letter-address">Your address</label>
      <input id="letter-address" name="address" type="email" required>
      <button class="btn btn-primary">Subscribe</button>
    </form>
  </section>""",
    )


def products(visit: Visit) -> Page:
    # The category links lost their ids.
    category = visit.query.get("category", "")
    found = in_category(category)
    links = "".join(
        f'<a class="chip{" chip-on" if slug == category else ""}" href="/products?category={slug}">{label}</a>'
        for slug, label in CATEGORIES.items()
    )
    return Page(
        "Products",
        f"""
  <h1>{text(CATEGORIES.get(category, "Products"))}</h1>
  <div class="filters">
    <div class="chips">{links}</div>
    <input id="product-filter" type="search" placeholder="Search products" aria-label="Search products">
    <span id="result-count" role="status">{counted(len(found), "product")}</span>
  </div>
  <ul class="grid">{cards(found)}</ul>""",
    )


def product(visit: Visit, item: Product) -> Page:
    # The box to buy is a component of the new build: hashed classes, and a wrapper around the button.
    return Page(
        item.name,
        f"""
  <p class="crumbs"><a href="/products?category={item.category}">{CATEGORIES[item.category]}</a></p>
  <article class="product">
    <img src="/assets/pictures/{item.slug}.svg" alt="" width="420" height="330">
    <div>
      <h1>{text(item.name)}</h1>
      <p class="price">{money(item.pence)}</p>
      <p>{text(item.about)}</p>
      <form class="buy_k29d" method="post" action="/basket/add">
        {guard(visit)}<input type="hidden" name="slug" value="{item.slug}">
        <div class="stepper">
          <button type="button" class="step" data-step="-1" aria-label="One less">−</button>
          <input name="quantity" inputmode="numeric" value="1" aria-label="Quantity">
          <button type="button" class="step" data-step="1" aria-label="One more">+</button>
        </div>
        <div class="row_m41z"><button class="btn_x7f3a">Add to basket</button></div>
      </form>
      {release1.care()}
    </div>
  </article>""",
    )


def basket(visit: Visit) -> Page:
    # "Save for later" is gone, and its list with it.
    content = basket_table(visit) if visit.session.lines else release1.empty_basket()
    return Page("Basket", f"<h1>Your basket</h1>{content}")


def basket_table(visit: Visit) -> str:
    # The total lost its id, and the way to the checkout is a button of a form.
    session = visit.session
    return f"""
  <table id="basket-table">
    <thead><tr><th>Piece</th><th>Quantity</th><th>Price</th><th></th></tr></thead>
    <tbody>{"".join(basket_row(visit, line) for line in session.lines)}</tbody>
  </table>
  <div class="beside">
    {release1.voucher_form(visit)}
    <div class="sum">
      <p>Subtotal <span>{money(session.subtotal)}</span></p>
      {release1.voucher_line(session)}
      <p class="grand">Total <strong class="sum_q8w2">{money(total(session))}</strong></p>
      <form action="/checkout"><button class="btn btn-primary" data-testid="to-checkout">Go to checkout</button></form>
    </div>
  </div>"""


def basket_row(visit: Visit, line: Line) -> str:
    return f"""
      <tr>
        <td>{text(line.product.name)}</td><td>{line.quantity}</td><td>{money(line.pence)}</td>
        <td><div class="actions">
          <form method="post" action="/basket/remove" data-confirm="Take {text(line.product.name)} out of the basket?">
            {guard(visit)}<input type="hidden" name="slug" value="{line.product.slug}">
            <button class="btn btn-quiet">Remove</button></form>
        </div></td>
      </tr>"""


def checkout(visit: Visit) -> Page:
    windows = {"": "Please choose", **WINDOWS}
    return Page(
        "Checkout",
        f"""
  <h1>Checkout</h1>
  <div class="beside">
    <form class="stacked" method="post" action="/checkout">
      {guard(visit)}
      {release1.address_fields(visit)}
      <label for="delivery-window">Delivery window</label>
      <select id="delivery-window" name="window" required>{options(windows, visit.sent.get("window", ""))}</select>
      <button class="btn btn-primary" data-testid="place-order">Place order</button>
    </form>
    {release1.summary(visit, total(visit.session))}
  </div>""",
    )


def login(visit: Visit) -> Page:
    # One word for it in the whole shop.
    return Page("Sign in", release1.login_form(visit, email_label="E-mail address"))


def contact(visit: Visit) -> Page:
    # The page can show a map of another provider now, so it asks first.
    page = release1.contact(visit)
    return page if visit.has_answered_consent else Page(page.title, page.main + consent_banner())


def consent_banner() -> str:
    return """
  <div class="scrim" id="consent">
    <div class="consent" role="dialog" aria-modal="true" aria-labelledby="consent-title">
      <h2 id="consent-title">Before we show you the map</h2>
      <p>The map to our workshop comes from another provider, who can see that you were here.</p>
      <fieldset id="consent-details" hidden>
        <legend>You decide</legend>
        <label class="tick"><input type="checkbox" checked disabled> What the shop needs to work</label>
        <label class="tick"><input type="checkbox" id="consent-map"> The map</label>
        <button type="button" class="btn" data-consent="chosen">Save my choice</button>
      </fieldset>
      <div class="choices">
        <button type="button" class="btn" data-consent="needed">Only what is needed</button>
        <button type="button" class="btn btn-primary" data-consent="all">Accept all</button>
        <button type="button" class="btn btn-quiet" id="consent-settings">Settings</button>
      </div>
    </div>
  </div>"""


def gift_card(visit: Visit) -> Page:
    # The giver moved below the message; where it stood there is a field for a nickname.
    sent = visit.sent
    return Page(
        "Gift card",
        f"""
  <h1>Give a gift card</h1>
  <form id="gift-form" class="stacked panel" method="post" action="/gift-card">
    {guard(visit)}
    <label for="receiver">Who is it for?</label>
    <input id="receiver" name="receiver" type="text" value="{text(sent.get("receiver", ""))}" required>
    <label for="nickname">Their nickname (optional)</label>
    <input id="nickname" name="nickname" type="text" value="{text(sent.get("nickname", ""))}">
    <label for="wish">Message</label>
    <textarea id="wish" name="wish" rows="3">{text(sent.get("wish", ""))}</textarea>
    <label for="giver">Who gives it?</label>
    <input id="giver" name="giver" type="text" value="{text(sent.get("giver", ""))}">
    <button class="btn btn-primary">Preview the card</button>
  </form>
  {release1.gift_preview(visit)}""",
    )


def delivery(visit: Visit) -> Page:
    # Countries in alphabetical order, and rows named after the country.
    zones = sorted(ZONES, key=lambda zone: zone.country)
    rows = (release1.zone_row(f"to-{zone.country.lower().replace(' ', '-')}", zone.code) for zone in zones)
    return Page("Delivery", release1.delivery_table("".join(rows)))
