#pragma once

#include <string>
#include <vector>

#include "core/session/sweep/sweep.h"
#include "core/session/sweep/sweep_classes.h"

namespace sonde::session {

/// The table of a sweep as CSV (RFC 4180, lines end in "\n"): input; NODE.min, max, mean, std, nan and inf of each
/// watched node; condition (true, false), label, predicted where there are any. Numbers read back as the same double.
/// Cells are empty where there is nothing: of an input that failed, of values that are no tensors or not computed, and
/// of statistics without a finite element.
std::string sweepCsvTitle(const Sweep& sweep);
std::string sweepCsvRow(const Sweep& sweep, const SweepRow& row);

/// The JSON of `sonde sweep --json` (sonde-sweep, version 1).
std::string sweepJson(const document::Document& document, const Sweep& sweep, const SweepSummary& summary,
                      const std::vector<SweepRow>& rows, const SweepClasses& classes);

/// In a line or two for people, with the inputs that break the condition (at most 20), the accuracy and the classes
/// that are mistaken most (at most 5).
std::string sweepText(const Sweep& sweep, const SweepSummary& summary, const std::vector<std::string>& broken,
                      const SweepClasses& classes);

/// "7: 40 % of 5, taken for 1 (2), 3 (1)".
std::string sweepClassText(const SweepClass& one);

}  // namespace sonde::session
