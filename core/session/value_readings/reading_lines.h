#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/session/value_readings/read_value.h"

// What the readings of value_readings.cpp are made with, and those that have a file of their own.

namespace sonde::session {

using ReadingLines = std::vector<std::string>;
using ReadingRows = std::vector<ReadingLines>;

/// Five significant digits; -0 is 0.
std::string readingNumber(double value);
/// "12.5 %"
std::string readingPercent(double share);
/// `head`, then a line for each row, and how many of `all` rows are not among them.
ReadingLines readingTable(std::string head, const ReadingRows& rows, std::int64_t all);

/// Of each filter of a convolution's weight its range, mean and norm.
base::Result<ReadingLines> filterLines(const ReadValue& value, const std::stop_token& stop);
/// Of each part of a recording its range and its loudest frequency.
base::Result<ReadingLines> soundLines(const ReadValue& value, const std::stop_token& stop);

}  // namespace sonde::session
