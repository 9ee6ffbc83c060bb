#pragma once

#include <string>
#include <vector>

#include "core/session/sweep/sweep.h"

namespace sonde::session {

/// The table of a sweep as CSV (RFC 4180, lines end in "\n"): input; NODE.min, max, mean, std, nan and inf of each
/// watched node; condition (true, false), label, predicted where there are any. Numbers read back as the same double.
/// Cells are empty where there is nothing: of an input that failed, of values that are no tensors or not computed, and
/// of statistics without a finite element.
std::string sweepCsvTitle(const Sweep& sweep);
std::string sweepCsvRow(const Sweep& sweep, const SweepRow& row);

/// The JSON of `sonde sweep --json` (sonde-sweep, version 1).
std::string sweepJson(const document::Document& document, const Sweep& sweep, const SweepSummary& summary,
                      const std::vector<SweepRow>& rows);

/// In a line or two for people, with the inputs that break the condition (at most 20) and the accuracy.
std::string sweepText(const Sweep& sweep, const SweepSummary& summary, const std::vector<std::string>& broken);

}  // namespace sonde::session
