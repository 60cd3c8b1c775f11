#!/usr/bin/env python3
"""The output of openset run, report and compare on a terminal of 80 columns."""
import sys

sys.path.insert(0, "tools/testing")
from program import NEAR_FAR_STUDY, NEAR_FAR_TASK, ProgramTest, main  # noqa: E402

COLUMNS = 80


class TerminalTest(ProgramTest):
    def on_terminal(self, command):
        result = self.program.run_on_terminal(command, COLUMNS)
        self.assertEqual(result.code, 0, result)
        return result.out.replace("\r\n", "\n")

    def widest(self, shown, first, last="\nrecords: "):
        """The width of the widest line from the one that begins with `first` to before `last`."""
        self.says(shown, first)
        return max(map(len, shown[shown.index(first):].split(last)[0].replace("\r", "").splitlines()))

    # Two splits and enough metrics for a table that is wider than 80 columns.
    def test_tables_fit_and_the_verdict_is_first(self):
        self.write("tasks/near_far.textproto", NEAR_FAR_TASK + "split { known: [0, 1, 2, 6] }\n")
        study = NEAR_FAR_STUDY.replace("split: 0 seed: [0, 1]", "split: [0, 1] seed: 0").replace(
            '"max_logit"', '"max_logit", "energy_score"')
        self.write("study.textproto",
                   study + "metric { aupr_unknown {} } metric { fpr_at_95tpr {} } metric { openauc {} }\n")

        # `run` (at its end) and `report` print the same lines; in a file, they are wider.
        table = "near_far: all unknown samples\n"
        run = self.on_terminal("run study.textproto")
        self.says(run[:run.index("report, rewritten")], "study: 6 of 6 trials to run: ")
        self.assertLessEqual(self.widest(run, "study: 6", "report, rewritten"), COLUMNS)
        self.assertTrue(COLUMNS / 2 < self.widest(run, table) <= COLUMNS, run)
        self.assertLessEqual(self.widest(self.on_terminal("report study.textproto"), table), COLUMNS)
        self.assertGreater(self.widest(self.out("report study.textproto"), table), COLUMNS)

        compared = self.on_terminal("compare study.textproto")
        self.assertTrue(COLUMNS / 2 < self.widest(compared, "study.textproto") <= COLUMNS, compared)
        # The first part of the table is the verdict. No interval of two values is shown: it would be wider than 100
        # points.
        self.assertRegex(compared, "a - mcp +a is")
        self.assertRegex(compared, r"max_logit +not tested: fewer than 3 splits \(2\)")
        self.assertLess(compared.index(" a is "), compared.index(" diff."))
        self.assertNotRegex(compared, r"max_logit .*-?[0-9]{3,}\.[0-9]{2}")
        self.assertRegex(compared, "max_logit +not tested.* - +-")


if __name__ == "__main__":
    main()
