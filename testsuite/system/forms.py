# SPDX-License-Identifier: GPL-2.0-or-later
"""In which form the simulator sends faults inside data (TaskInfo.error,
missingSet): flat, as VI JSON of vCenter 8.0.3 does, or nested, as SOAP does.

Tests marked `faults` run in both. VS_FAULTS=nested: all others run nested."""

import os

FORMS = ("flat", "nested")
VARIABLE = "VS_FAULTS"


def declared(inventory):
    """An inventory with the form in it, unless it names one."""
    return {"faults": os.environ.get(VARIABLE) or FORMS[0], **inventory}


def both(metafunc):
    """For pytest_generate_tests."""
    if not metafunc.definition.get_closest_marker("faults"):
        return
    # It would have been started in one form.
    assert "cluster" not in metafunc.fixturenames, \
        f"{metafunc.definition.name}: a test marked faults starts its own vCenter"
    metafunc.parametrize("fault_form", FORMS, indirect=True)
