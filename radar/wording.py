"""Does a control that says something else now still do the same? Told from its words alone.

A button that was reworded and a button that another one took the place of look the same to everything that counts
likeness: the same place, the same size, half of the words. What tells them apart is what the words mean, and of that
only a little is known here: that "unsubscribe" is the opposite of "subscribe", that "all" reaches further, and that a
word which was put in another's place may be another deed.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from rapidfuzz import fuzz

from radar.synonyms import plain
from radar.things import Words, words_of

# Pairs of words, each the other's opposite on a control.
_OPPOSITES: Final = """
add/remove add/delete add/subtract create/delete create/remove create/cancel order/cancel book/cancel place/cancel
save/discard save/delete save/cancel keep/discard keep/delete keep/remove enable/disable activate/disable allow/deny
allow/block allow/refuse allow/forbid permit/deny permit/forbid accept/reject accept/decline accept/refuse accept/deny
approve/reject approve/decline approve/deny confirm/cancel submit/cancel continue/cancel ok/cancel send/cancel
agree/decline agree/refuse yes/no on/off in/out login/logout up/down next/previous next/prev next/back forward/back
forward/backward first/last increase/decrease increment/decrement more/less more/fewer expand/collapse open/close
show/hide start/stop begin/end resume/pause play/pause play/stop run/stop maximize/minimize maximise/minimise
import/export upload/download login/signout attach/detach join/leave grant/revoke grant/deny public/private buy/sell
send/receive push/pull archive/restore delete/restore remove/restore trash/restore before/after undo/redo left/right
top/bottom ascending/descending asc/desc maximum/minimum max/min light/dark include/exclude encrypt/decrypt all/none
select/clear all/necessary all/essential all/required everything/necessary everything/essential true/false raise/lower
promote/demote plus/minus hinzufügen/entfernen hinzufügen/löschen speichern/verwerfen speichern/löschen
speichern/abbrechen behalten/verwerfen annehmen/ablehnen akzeptieren/ablehnen zustimmen/ablehnen erlauben/verbieten
erlauben/ablehnen bestätigen/abbrechen senden/abbrechen weiter/abbrechen weiter/zurück vor/zurück ja/nein ein/aus
öffnen/schließen anzeigen/ausblenden einblenden/ausblenden anmelden/abmelden einloggen/ausloggen
einschalten/ausschalten starten/stoppen starten/beenden hochladen/herunterladen importieren/exportieren
erhöhen/verringern mehr/weniger kaufen/verkaufen nächste/vorherige ajouter/supprimer ajouter/retirer
enregistrer/annuler accepter/refuser autoriser/refuser confirmer/annuler oui/non ouvrir/fermer afficher/masquer
suivant/précédent activer/désactiver importer/exporter connexion/déconnexion plus/moins añadir/eliminar añadir/quitar
agregar/eliminar guardar/descartar guardar/cancelar aceptar/rechazar permitir/denegar confirmar/cancelar sí/no
abrir/cerrar mostrar/ocultar siguiente/anterior activar/desactivar subir/bajar
""".split()
_AGAINST: Final = frozenset(frozenset(words_of(pair.replace("/", " "))) for pair in _OPPOSITES)
# What turns a word into its opposite: unfollow, deactivate, disconnect, entsperren, désactiver.
_TURNING: Final = ("un", "de", "dis", "non", "ent", "dés", "des")
# Words that say no, and words that reach further than one.
_NO: Final = frozenset(words_of("not no non never without don doesn nicht kein keine ohne nie ne pas sans nunca"))
_ALL: Final = frozenset(words_of("all every everything everyone everybody alle alles jede tout toute todo toda"))
# Words that may come and go: nothing is done otherwise for them.
_FILLING: Final = frozenset(
    words_of(
        "a an the to of for from at by and or your my our this that it its is are be here now please with "
        "der die das den dem des ein eine einen zu zum zur von für und oder ihr ihre mein meine bitte jetzt "
        "le la les l un une du de et ou votre vos mon ma mes s il vous plaît el los las una y o su sus tu mi "
        "button link icon page"
    )
)
_SPELT_ALIKE: Final = 80  # percent of letters
_SHORT: Final = 4  # letters; shorter words differ by one letter and are others
_REACHING: Final = 3  # words that come with "all": "Delete" that became "Delete all old entries"
SHORT_NAME: Final = 6  # words; a longer text is edited all the time


def opposite(old: Words, new: Words) -> str:
    """How the new words say the opposite of the old ones, or reach further than they did: "" if they do not.

    Either side may hold any words; the answer is for people, such as '"unfollow" is the opposite of "follow"'.
    """
    lost, gained = set(old) - set(new), set(new) - set(old)
    short_lost, short_gained = set(plain(old)) - set(plain(new)), set(plain(new)) - set(plain(old))
    for was in sorted(lost | short_lost):
        for now in sorted(gained | short_gained):
            if _are_opposites(was, now):
                return f'"{now}" is the opposite of "{was}"'
    if bool(gained & _NO) != bool(lost & _NO):
        return f'"{sorted((gained | lost) & _NO)[0]}" says the opposite'
    reach = sorted(gained & _ALL)
    is_same_deed = not lost and len(new) - len(old) <= _REACHING
    return f'"{reach[0]}" reaches further than it did' if reach and is_same_deed and not set(old) & _ALL else ""


def _are_opposites(one: str, other: str) -> bool:
    if frozenset((one, other)) in _AGAINST:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORT:
        return False
    # "activate" and "deactivate", but also "select" and "deselected".
    return any(long.startswith(turn + short) for turn in _TURNING)


def swapped(old: Words, new: Words) -> bool:
    """Was a word that tells something put in the place of another, so that it may be another deed?

    Spelt otherwise, another word for the same, words that were only added and words that were only left out are no
    swap. A name of more than SHORT_NAME words is a text, and says nothing here.
    """
    was, now = _telling(plain(old)), _telling(plain(new))
    if not was or not now or max(len(was), len(now)) > SHORT_NAME:
        return False
    return bool(_without_like(was, now)) and bool(_without_like(now, was))


def share_words(old: Words, new: Words) -> bool:
    """Is there a word that tells something in both, as it is or spelt otherwise?"""
    was, now = _telling(plain(old)), _telling(plain(new))
    return len(_without_like(was, now)) < len(was)


def _telling(words: Words) -> AbstractSet[str]:
    """Without numbers, icons and words that only fill."""
    return {word for word in words if word[0].isalpha() and word not in _FILLING}


def _without_like(words: AbstractSet[str], others: AbstractSet[str]) -> AbstractSet[str]:
    return {word for word in words if not any(_is_spelling(word, other) for other in others)}


def _is_spelling(one: str, other: str) -> bool:
    if one == other:
        return True
    return min(len(one), len(other)) >= _SHORT and fuzz.ratio(one, other) >= _SPELT_ALIKE


def telling_words(words: Words) -> AbstractSet[str]:
    """The words of a short name that tell something; empty for a longer text."""
    telling = _telling(words)
    return telling if len(telling) <= SHORT_NAME else frozenset()
