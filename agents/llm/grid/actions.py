"""The five actions in words: as prompts name them, and as replies may.

Wordings of other languages are taken where they can mean nothing else. Numbers are not taken: the
prompts give none, and models count from 0 or from 1.
"""

from typing import Final

from agents.llm.parsing import ReplyFormat, fold
from normgym_envs.constants import Action

ACTION_NAMES: Final = ("move up", "move down", "move left", "move right", "wait")
"""As the prompts name them, in the order of `constants.Action`. Source: NG App. "Prompts"."""

_DIRECTIONS: Final = {
    Action.UP: "up|upward|upwards|north|northward",
    Action.DOWN: "down|downward|downwards|south|southward",
    Action.LEFT: "left|leftward|leftwards|west|westward",
    Action.RIGHT: "right|rightward|rightwards|east|eastward",
}
_VERBS: Final = (
    "",
    "move ",
    "moving ",
    "go ",
    "step ",
    "walk ",
    "head ",
    "action ",
    "move to the ",
)
_TAILS: Final = ("", " one cell", " one step", " by one", " 1 cell", " 1 step", " by 1")
_OTHERS: Final = {
    Action.UP: (
        "n|u|↑|⬆|arrow up|up arrow|上|向上|往上|上へ|위|위로|hoch|nach oben|oben|rauf|haut|"
        "en haut|vers le haut|monter|arriba|hacia arriba|subir|cima|para cima|su|"
        "in alto|вверх|moveup"
    ),
    Action.DOWN: (
        "s|↓|⬇|arrow down|down arrow|下|向下|往下|下へ|아래|아래로|runter|nach unten|unten|bas|"
        "en bas|vers le bas|descendre|abajo|hacia abajo|bajar|baixo|para baixo|giù|"
        "in basso|вниз|movedown"
    ),
    Action.LEFT: (
        "l|←|⬅|arrow left|left arrow|左|向左|往左|左へ|왼쪽|왼쪽으로|links|nach links|gauche|"
        "à gauche|vers la gauche|izquierda|a la izquierda|esquerda|para a esquerda|"
        "sinistra|влево|moveleft"
    ),
    Action.RIGHT: (
        "e|r|→|➡|arrow right|right arrow|右|向右|往右|右へ|오른쪽|오른쪽으로|rechts|nach rechts|"
        "droite|à droite|vers la droite|derecha|a la derecha|direita|para a direita|"
        "destra|вправо|moveright"
    ),
    Action.WAIT: (
        "waiting|wait here|wait in place|wait one turn|wait a turn|action wait|stay|"
        "stay put|stay in place|stay here|stay still|stand|stand still|remain|"
        "remain in place|hold|hold position|do nothing|no op|noop|no move|"
        "do not move|don't move|pass|skip|idle|等待|等|待つ|기다리기|대기|warten|abwarten|"
        "attendre|esperar|aguardar|aspettare|ждать"
    ),
}


def _list_synonyms() -> dict[str, int]:
    """Return every other wording and its action.

    Source: not specified; chosen because models write them. The letters a, d and w are not taken:
    on keyboards they mean other directions than as initials.
    """
    found: dict[str, int] = {}
    for action, words in _DIRECTIONS.items():
        for word in words.split("|"):
            for verb in _VERBS:
                for tail in _TAILS:
                    found[fold(f"{verb}{word}{tail}")] = int(action)
    for action, words in _OTHERS.items():
        for word in words.split("|"):
            found[fold(word)] = int(action)
    return found


SYNONYMS: Final = _list_synonyms()

ACTION_FORMAT: Final = ReplyFormat(ACTION_NAMES, int(Action.WAIT), SYNONYMS)
"""What an answer in a test holds. Source: NG App. "Prompts"."""
INTERACTION_FORMAT: Final = ReplyFormat(
    ACTION_NAMES,
    int(Action.WAIT),
    SYNONYMS,
    belief_field="belief",
    confidence_field="confidence",
)
"""What an answer in an interaction holds. Source: NG App. "Prompts"."""
