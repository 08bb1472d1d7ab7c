"""Release 1 of the shop, the one its tests were recorded on: a function a page."""

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
from gardener.sample_shop.state import CATEGORIES, PRODUCTS, TOPICS, ZONES, Line, Order, Product, Session

CHECKOUT_FIELDS: tuple[str, ...] = ("name", "street", "town", "country")
COUNTRIES = {zone.code: zone.country for zone in ZONES}
FEATURED = ("blue-mug", "stoneware-teapot", "serving-bowl", "dinner-plate")


def total(session: Session) -> int:
    return session.subtotal - session.discount


def layout(page: Page, visit: Visit) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{text(page.title)} – Harbour Pottery</title>
  <link rel="icon" href="/assets/icon.svg">
  <link rel="stylesheet" href="/assets/shop.css?v=1041">
</head>
<body>
  <header class="site-header">
    <a class="brand" href="/">Harbour Pottery</a>
    <nav aria-label="Main">
      <a href="/products">Products</a>
      <a href="/gift-card">Gift card</a>
      <a href="/delivery">Delivery</a>
      <a href="/contact">Contact</a>
    </nav>
    <div class="account">{account(visit)}
      <a id="basket-link" href="/basket">Basket
        <span class="badge" data-testid="basket-count">{visit.session.pieces}</span></a>
    </div>
  </header>
  <main>{messages(visit)}{page.main}</main>
  <footer class="site-footer">
    <span>Harbour Pottery, 12 Quay Street</span>
    <span>Stock checked at {visit.now:%H:%M:%S}</span>
  </footer>
  <script src="/assets/shop.js?v=1041"></script>
</body>
</html>
"""


def account(visit: Visit) -> str:
    if visit.session.person is None:
        return '<a href="/login">Sign in</a>'
    return f"""
      <span class="hello">Hello, {text(visit.session.person.name)}</span>
      <a href="/orders">Orders</a>
      <a href="/settings">Settings</a>
      <form method="post" action="/logout">{guard(visit)}<button class="btn btn-quiet">Sign out</button></form>"""


def home(visit: Visit) -> Page:
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
    <ul class="grid">{cards(PRODUCTS[slug] for slug in FEATURED)}</ul>
  </section>
  <section class="panel">
    <h2>A letter from the kiln</h2>
    <p>Four times a year, with what is new and what went wrong.</p>
    <form class="inline" method="post" action="/newsletter">
      {guard(visit)}
      <label for="newsletter-email">Your address</label>
      <input id="newsletter-email" name="address" type="email" required>
      <button class="btn btn-primary">Subscribe</button>
    </form>
  </section>""",
    )


def products(visit: Visit) -> Page:
    category = visit.query.get("category", "")
    found = in_category(category)
    links = "".join(
        f'<a id="category-{slug}" class="chip{" chip-on" if slug == category else ""}" '
        f'href="/products?category={slug}">{label}</a>'
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
      <form class="buy-box" method="post" action="/basket/add">
        {guard(visit)}<input type="hidden" name="slug" value="{item.slug}">
        <div class="stepper">
          <button type="button" class="step" data-step="-1" aria-label="One less">−</button>
          <input name="quantity" inputmode="numeric" value="1" aria-label="Quantity">
          <button type="button" class="step" data-step="1" aria-label="One more">+</button>
        </div>
        <button class="btn btn-primary">Add to basket</button>
      </form>
      {care()}
    </div>
  </article>""",
    )


def care() -> str:
    return """<details>
        <summary>Care and returns</summary>
        <p>Safe in the dishwasher and the oven. If it arrives broken, send us a picture within 30 days.</p>
      </details>"""


def basket(visit: Visit) -> Page:
    session = visit.session
    saved = "".join(f"<li>{text(PRODUCTS[slug].name)}</li>" for slug in session.saved)
    return Page(
        "Basket",
        f"""
  <h1>Your basket</h1>
  {basket_table(visit) if session.lines else empty_basket()}
  <section class="panel">
    <h2>Saved for later</h2>
    <ul id="saved-items">{saved or "<li>Nothing yet</li>"}</ul>
  </section>""",
    )


def empty_basket() -> str:
    return '<p>There is nothing in your basket yet. <a href="/products">Look around</a></p>'


def basket_table(visit: Visit) -> str:
    session = visit.session
    return f"""
  <table id="basket-table">
    <thead><tr><th>Piece</th><th>Quantity</th><th>Price</th><th></th></tr></thead>
    <tbody>{"".join(basket_row(visit, line) for line in session.lines)}</tbody>
  </table>
  <div class="beside">
    {voucher_form(visit)}
    <div class="sum">
      <p>Subtotal <span>{money(session.subtotal)}</span></p>
      {voucher_line(session)}
      <p class="grand">Total <strong id="basket-total">{money(total(session))}</strong></p>
      <a class="btn btn-primary" data-testid="to-checkout" href="/checkout">Go to checkout</a>
    </div>
  </div>"""


def basket_row(visit: Visit, line: Line) -> str:
    slug = line.product.slug
    return f"""
      <tr>
        <td>{text(line.product.name)}</td><td>{line.quantity}</td><td>{money(line.pence)}</td>
        <td><div class="actions">
          <form method="post" action="/basket/save">{guard(visit)}<input type="hidden" name="slug" value="{slug}">
            <button class="btn btn-quiet">Save for later</button></form>
          <form method="post" action="/basket/remove" data-confirm="Take {text(line.product.name)} out of the basket?">
            {guard(visit)}<input type="hidden" name="slug" value="{slug}">
            <button class="btn btn-quiet">Remove</button></form>
        </div></td>
      </tr>"""


def voucher_form(visit: Visit) -> str:
    return f"""<form class="inline" method="post" action="/basket/voucher">
      {guard(visit)}
      <label for="voucher">Voucher code</label>
      <input id="voucher" name="code" value="{text(visit.sent.get("code", visit.session.voucher))}">
      <button class="btn">Apply voucher</button>
    </form>"""


def voucher_line(session: Session) -> str:
    if not session.voucher:
        return ""
    return f"<p>Voucher {text(session.voucher)} <span>−{money(session.discount)}</span></p>"


def checkout(visit: Visit) -> Page:
    return Page(
        "Checkout",
        f"""
  <h1>Checkout</h1>
  <div class="beside">
    <form class="stacked" method="post" action="/checkout">
      {guard(visit)}
      {address_fields(visit)}
      <button class="btn btn-primary" data-testid="place-order">Place order</button>
    </form>
    {summary(visit, total(visit.session))}
  </div>""",
    )


def address_fields(visit: Visit) -> str:
    sent = visit.sent
    return f"""
      <label for="name">Full name</label>
      <input id="name" name="name" value="{text(sent.get("name", ""))}" required>
      <label for="street">Street and number</label>
      <input id="street" name="street" value="{text(sent.get("street", ""))}" required>
      <label for="town">Town</label>
      <input id="town" name="town" value="{text(sent.get("town", ""))}" required>
      <label for="country">Country</label>
      <select id="country" name="country">{options(COUNTRIES, sent.get("country", ""))}</select>"""


def summary(visit: Visit, pence: int) -> str:
    lines = "".join(
        f"<li>{line.quantity} × {text(line.product.name)} <span>{money(line.pence)}</span></li>"
        for line in visit.session.lines
    )
    return f"""<aside class="panel" id="checkout-summary">
      <h2>Your order</h2>
      <ul class="lines">{lines or "<li>Nothing yet</li>"}</ul>
      <p>{money(pence)}, and delivery by country</p>
    </aside>"""


def order(visit: Visit, placed: Order) -> Page:
    lines = "".join(
        f"<tr><td>{text(line.product.name)}</td><td>{line.quantity}</td><td>{money(line.pence)}</td></tr>"
        for line in placed.lines
    )
    return Page(
        f"Order {placed.number}",
        f"""
  <h1>Thank you, {text(placed.name)}</h1>
  <p>Order {placed.number}: {text(placed.status)}{delivered_in(placed)}</p>
  <table>
    <thead><tr><th>Piece</th><th>Quantity</th><th>Price</th></tr></thead>
    <tbody>{lines}</tbody>
  </table>
  <p class="grand">Paid with delivery <strong data-testid="order-total">{money(placed.pence)}</strong></p>""",
    )


def delivered_in(placed: Order) -> str:
    return f". Delivery: {text(placed.window)}" if placed.window else ""


def orders(visit: Visit) -> Page:
    person = visit.session.person
    rows = "".join(
        f'<tr><td><a href="/orders/{placed.number}">Order {placed.number}</a></td>'
        f"<td>{text(placed.status)}</td><td>{money(placed.pence)}</td></tr>"
        for placed in (person.orders if person else ())
    )
    return Page(
        "Your orders",
        f"""
  <h1>Your orders</h1>
  <table id="orders">
    <thead><tr><th>Order</th><th>Where it is</th><th>Price</th></tr></thead>
    <tbody>{rows}</tbody>
  </table>""",
    )


def login(visit: Visit) -> Page:
    return Page("Sign in", login_form(visit, email_label="Email"))


def login_form(visit: Visit, *, email_label: str) -> str:
    return f"""
  <h1>Sign in</h1>
  <form id="sign-in" class="stacked panel narrow" method="post" action="/login">
    {guard(visit)}
    <label for="email">{email_label}</label>
    <input id="email" name="email" type="email" autocomplete="username" value="{text(visit.sent.get("email", ""))}">
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password">
    <button class="btn btn-primary">Sign in</button>
  </form>"""


def settings(visit: Visit) -> Page:
    person = visit.session.person
    offers, reminders = bool(person and person.wants_offers), bool(person and person.wants_reminders)
    return Page(
        "Settings",
        f"""
  <h1>Settings</h1>
  <form class="stacked panel narrow" method="post" action="/settings">
    {guard(visit)}
    <label class="tick"><input type="checkbox" name="offers"{" checked" if offers else ""}> Offers by e-mail</label>
    <label class="tick"><input type="checkbox" name="reminders"{" checked" if reminders else ""}>
      Remind me of a full basket</label>
    <button class="btn btn-primary">Save settings</button>
  </form>
  <p data-testid="settings-summary">Offers by e-mail: {"yes" if offers else "no"}.
    Reminders: {"yes" if reminders else "no"}.</p>""",
    )


def contact(visit: Visit) -> Page:
    sent = visit.sent
    return Page(
        "Contact",
        f"""
  <h1>Write to us</h1>
  <form class="stacked panel" method="post" action="/contact" novalidate>
    {guard(visit)}
    <label for="contact-name">Your name</label>
    <input id="contact-name" name="name" value="{text(sent.get("name", ""))}">
    <label for="topic">What is it about?</label>
    <select id="topic" name="topic">{options(TOPICS, sent.get("topic", ""))}</select>
    <label for="message">Message</label>
    <textarea id="message" name="message" rows="5">{text(sent.get("message", ""))}</textarea>
    <button class="btn btn-primary">Send message</button>
  </form>""",
    )


def gift_card(visit: Visit) -> Page:
    sent = visit.sent
    return Page(
        "Gift card",
        f"""
  <h1>Give a gift card</h1>
  <form id="gift-form" class="stacked panel" method="post" action="/gift-card">
    {guard(visit)}
    <label for="receiver">Who is it for?</label>
    <input id="receiver" name="receiver" type="text" value="{text(sent.get("receiver", ""))}" required>
    <label for="giver">Who gives it?</label>
    <input id="giver" name="giver" type="text" value="{text(sent.get("giver", ""))}">
    <label for="wish">Message</label>
    <textarea id="wish" name="wish" rows="3">{text(sent.get("wish", ""))}</textarea>
    <button class="btn btn-primary">Preview the card</button>
  </form>
  {gift_preview(visit)}""",
    )


def gift_preview(visit: Visit) -> str:
    sent = visit.sent
    if not sent:
        return ""
    receiver = sent.get("nickname") or sent.get("receiver", "")
    return f"""<section class="gift" data-testid="gift-preview">
    <h2>For {text(receiver)}</h2>
    <p>{text(sent.get("wish", ""))}</p>
    <p>from {text(sent.get("giver") or "a friend")}</p>
  </section>"""


def delivery(visit: Visit) -> Page:
    return Page("Delivery", delivery_table("".join(zone_row(f"zone-{zone.code}", zone.code) for zone in ZONES)))


def delivery_table(rows: str) -> str:
    return f"""
  <h1>Delivery</h1>
  <p>We pack in straw and paper, and send on Tuesdays and Fridays.</p>
  <table id="zones">
    <thead><tr><th>Country</th><th>Price</th><th></th></tr></thead>
    <tbody>{rows}</tbody>
  </table>
  <p id="zone-note" aria-live="polite">Choose a country to see how long it takes.</p>"""


def zone_row(row_id: str, code: str) -> str:
    zone = next(zone for zone in ZONES if zone.code == code)
    note = f"{zone.days} working days to {zone.country}."
    return f"""
      <tr id="{row_id}">
        <td>{text(zone.country)}</td><td>{money(zone.pence) if zone.pence else "free"}</td>
        <td><button type="button" class="btn btn-quiet" data-note="{text(note)}">How long?</button></td>
      </tr>"""


def not_found(visit: Visit) -> Page:
    return Page("Not found", "<h1>Not found</h1><p>This page is not on our shelves.</p>")
