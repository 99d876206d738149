"""What SW and its released code report, as rows to hold own numbers against.

Five seeds means 42, 123, 456, 789, 1024, spreads over them are population standard deviations.
"""

from typing import Final, NamedTuple


class FiveSeeds(NamedTuple):
    """A row of SW Table 4: means and spreads over five seeds."""

    toxicity: float
    toxicity_sd: float
    welfare: float
    welfare_sd: float
    interactions: float
    interactions_sd: float
    passed: float  # percent


class Band(NamedTuple):
    """Mean and sample standard deviation over 40 independent seeds of the released code."""

    mean: float
    sd: float


SEEDS: Final = (42, 123, 456, 789, 1024)
"""Source: SW section 5, "Replication and Statistical Protocol"."""
BAND_SEEDS: Final = 40
LIMIT: Final = 3.5
"""Standard errors an own mean may be off."""

TABLE_4: Final = {
    "baseline": FiveSeeds(0.300, 0.006, 181.38, 12.98, 172.6, 6.8, 100),
    "strict_governance": FiveSeeds(0.300, 0.010, 108.50, 12.37, 147.6, 7.2, 60),
    "adaptive_governance": FiveSeeds(0.341, 0.008, 184.14, 11.06, 355.0, 13.9, 0),
    "adversarial_redteam": FiveSeeds(0.308, 0.010, 110.12, 11.57, 154.4, 32.0, 100),
    "misalignment_sweep": FiveSeeds(0.315, 0.006, 163.24, 9.23, 419.4, 43.9, 100),
    "threshold_dancer": FiveSeeds(0.353, 0.052, 354.80, 34.12, 1009.0, 77.0, 0),
    "collusion_detection": FiveSeeds(0.357, 0.008, 157.90, 10.70, 270.6, 21.5, 100),
}

BANDS: Final = {
    "baseline": {
        "toxicity": Band(0.3004, 0.0084),
        "toxicity_epoch_mean": Band(0.3008, 0.0093),
        "welfare": Band(181.9, 13.2),
        "net_social_welfare": Band(82.2, 6.7),
        "interactions": Band(173.3, 11.3),
        "accepted": Band(165.7, 13.5),
    },
    "strict_governance": {
        "toxicity": Band(0.2939, 0.0079),
        "toxicity_epoch_mean": Band(0.2886, 0.0097),
        "welfare": Band(113.5, 10.5),
        "net_social_welfare": Band(59.0, 9.3),
        "interactions": Band(147.2, 9.2),
        "accepted": Band(133.1, 9.2),
    },
    "adaptive_governance": {
        "toxicity": Band(0.3400, 0.0064),
        "toxicity_epoch_mean": Band(0.3391, 0.0071),
        "welfare": Band(177.6, 19.1),
        "net_social_welfare": Band(67.2, 10.5),
        "interactions": Band(353.7, 16.4),
        "accepted": Band(223.4, 22.4),
    },
    "adversarial_redteam": {
        "toxicity": Band(0.3088, 0.0132),
        "toxicity_epoch_mean": Band(0.1792, 0.0266),
        "welfare": Band(108.2, 11.6),
        "net_social_welfare": Band(51.3, 8.6),
        "interactions": Band(150.6, 18.8),
        "accepted": Band(75.4, 8.5),
    },
    "misalignment_sweep": {
        "toxicity": Band(0.3124, 0.0059),
        "toxicity_epoch_mean": Band(0.3121, 0.0064),
        "welfare": Band(165.5, 12.9),
        "net_social_welfare": Band(114.1, 10.1),
        "interactions": Band(395.0, 62.4),
        "accepted": Band(261.0, 21.2),
    },
    "threshold_dancer": {
        "toxicity": Band(0.3884, 0.0561),
        "toxicity_epoch_mean": Band(0.3907, 0.0558),
        "welfare": Band(350.5, 29.3),
        "net_social_welfare": Band(-5.5, 141.6),
        "interactions": Band(963.5, 97.2),
        "accepted": Band(598.0, 156.6),
    },
    "collusion_detection": {
        "toxicity": Band(0.3541, 0.0104),
        "toxicity_epoch_mean": Band(0.3202, 0.0374),
        "welfare": Band(171.5, 18.9),
        "net_social_welfare": Band(67.9, 10.9),
        "interactions": Band(297.9, 36.8),
        "accepted": Band(130.8, 14.5),
    },
}
"""Source: the released code, seeds 1 to 40, 20 epochs of 15 steps."""
HELD: Final = {"threshold_dancer": ("interactions", "accepted")}
"""Scenarios of which only these metrics are held: the dancers' runs fall into several modes."""


class Setting(NamedTuple):
    """One row of an ablation: the value, and SW's toxicity, welfare and its spread."""

    value: float
    toxicity: float
    welfare: float
    welfare_sd: float


class Ablation(NamedTuple):
    """A sweep of one setting of a scenario."""

    table: str
    title: str
    scenario: str
    lever: str
    fields: tuple[str, ...]
    settings: tuple[Setting, ...]


ABLATIONS: Final = {
    "rho": Ablation(
        "Table 5",
        "Externality internalisation rho",
        "misalignment_sweep",
        "externality",
        ("initiator", "counterparty"),
        (
            Setting(0.0, 0.3150, 262.14, 13.30),
            Setting(0.1, 0.3150, 229.18, 11.76),
            Setting(0.3, 0.3150, 163.24, 9.23),
            Setting(0.5, 0.3150, 97.32, 8.00),
            Setting(0.7, 0.3150, 31.38, 8.64),
            Setting(1.0, 0.3150, -67.51, 12.27),
        ),
    ),
    "tax": Ablation(
        "Table 6a",
        "Transaction tax rate",
        "strict_governance",
        "transaction_tax",
        ("rate",),
        (
            Setting(0.0, 0.2936, 136.15, 6.11),
            Setting(0.05, 0.2967, 121.05, 10.10),
            Setting(0.10, 0.2996, 108.50, 12.37),
            Setting(0.15, 0.3043, 98.74, 11.52),
            Setting(0.20, 0.3067, 90.79, 11.62),
            Setting(0.30, 0.3131, 72.40, 6.80),
        ),
    ),
    "breaker": Ablation(
        "Table 6b",
        "Circuit breaker threshold",
        "strict_governance",
        "circuit_breaker",
        ("threshold",),
        (
            Setting(0.20, 0.3347, 38.21, 3.46),
            Setting(0.35, 0.2996, 108.50, 12.37),
            Setting(0.50, 0.3327, 143.88, 11.31),
            Setting(0.65, 0.3265, 146.99, 11.71),
            Setting(0.80, 0.3265, 146.99, 11.71),
        ),
    ),
    "audit": Ablation(
        "Table 6c",
        "Audit probability",
        "strict_governance",
        "random_audit",
        ("probability",),
        (
            Setting(0.0, 0.2985, 111.89, 10.79),
            Setting(0.05, 0.2986, 111.63, 10.61),
            Setting(0.10, 0.2995, 109.31, 12.49),
            Setting(0.25, 0.2996, 108.50, 12.37),
            Setting(0.50, 0.2998, 106.74, 12.03),
        ),
    ),
    "decay": Ablation(
        "Table 6d",
        "Reputation decay lambda",
        "strict_governance",
        "reputation_decay",
        ("factor",),
        (
            Setting(0.70, 0.3032, 108.16, 10.29),
            Setting(0.80, 0.3021, 107.65, 12.47),
            Setting(0.90, 0.2994, 109.50, 11.52),
            Setting(0.95, 0.2951, 114.23, 5.70),
            Setting(1.00, 0.2922, 117.72, 5.36),
        ),
    ),
}
"""Source: SW section 5 for the values, Tables 5 and 6 for the numbers."""


class Weights(NamedTuple):
    """A row of SW Table 9: weights, and E[p] of honest and of adversarial agents."""

    name: str
    weights: tuple[float, float, float, float]
    honest: float
    honest_sd: float
    adversarial: float
    adversarial_sd: float


TABLE_9: Final = (
    Weights("uniform", (0.25, 0.25, 0.25, 0.25), 0.681, 0.012, 0.150, 0.034),
    Weights("default", (0.4, 0.2, 0.2, 0.2), 0.742, 0.015, 0.098, 0.021),
    Weights("heavy task", (0.8, 0.05, 0.05, 0.10), 0.865, 0.021, 0.034, 0.010),
)

TABLE_7: Final = (
    (
        "self-optimiser",
        "20 epochs, 579 interactions, three phases, costs -98 %, hard criteria still pass",
        "not rebuilt: SW gives neither its phases nor its costs as numbers to build from",
    ),
    (
        "Concordia, Llama 3.1 8B",
        "305 proposals, payoff .544 against .551, mean p .752",
        "not run: needs the model and the Concordia package",
    ),
    (
        "Claude Haiku and Sonnet",
        "54 episodes, 0 of 19 tests survive Holm's correction",
        "not run: needs a paid service",
    ),
    (
        "Mesa, 30 agents, 50 steps, static threshold",
        "toxicity .237 at any rho; welfare 1141, 907, 721 at rho 0, .5, 1",
        "not rebuilt: the quality its agents draw is not given",
    ),
    (
        "Mesa, adaptive threshold .5 + .3 rho",
        "toxicity .237, .214, .157; welfare 1141, 907, 340; learning at rho 1: .147, 807",
        "not rebuilt: the same",
    ),
    ("GPT-4o Mini", "not preserved", "not run: neither its numbers nor its set-up are preserved"),
)
"""Source: SW Table 7 as far as prose preserves it: study, its numbers, why there are none here."""
