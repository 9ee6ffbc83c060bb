#include "core/session/value_readings/value_readings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/element_readings.h"
#include "core/analysis/tensor_stats.h"
#include "core/analysis/tensor_views/attention_heads.h"
#include "core/analysis/tensor_views/channel_sparsity.h"
#include "core/analysis/tensor_views/element_bits.h"
#include "core/analysis/tensor_views/filter_pictures.h"
#include "core/analysis/tensor_views/row_pca.h"
#include "core/analysis/tensor_views/top_tokens.h"
#include "core/base/count_text.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/base/visible_text.h"
#include "core/session/sound/sound_picture.h"
#include "core/session/value_readings/reading_lines.h"
#include "core/tensor/plane.h"

namespace sonde::session {

namespace {

using base::Result;
using tensor::Tensor;
using Lines = ReadingLines;
using Rows = ReadingRows;

constexpr std::size_t kTopKeys = 3, kTopTokens = 5;

/// The index of an element, or of a part, by its row-major position in a shape: "0,3"; "0" of rank 0.
std::string indexText(std::span<const std::int64_t> shape, std::int64_t position) {
    std::string text;
    for (std::size_t i = shape.size(); i-- > 0;) {
        text = std::to_string(position % shape[i]) + (text.empty() ? "" : ",") + text;
        position /= shape[i];
    }
    return text.empty() ? "0" : text;
}

std::int64_t countOf(std::span<const std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t dim : shape) count *= dim;
    return count;
}

/// A plane of the last two axes, by its position among all of them.
Tensor planeAt(const Tensor& tensor, std::int64_t position) {
    const auto rank = static_cast<int>(tensor.rank());
    std::vector<std::int64_t> index(tensor.rank(), 0);
    for (int i = rank - 2; i-- > 0;) {
        index[static_cast<std::size_t>(i)] = position % tensor.dim(static_cast<std::size_t>(i));
        position /= tensor.dim(static_cast<std::size_t>(i));
    }
    return tensor::plane(tensor, rank - 2, rank - 1, index);
}

std::span<const std::int64_t> leading(const Tensor& tensor) {
    return std::span(tensor.shape()).first(tensor.rank() - std::min<std::size_t>(tensor.rank(), 2));
}

/// "3 'hous'": the input's token at a position, if the text is as long as the value.
std::string positionText(const ReadValue& value, std::int64_t position, std::int64_t count) {
    const bool isNamed = value.tokens && static_cast<std::int64_t>(value.tokens->ids.size()) == count;
    const std::string text = isNamed ? value.tokens->at(position) : std::string();
    return std::to_string(position) + (text.empty() ? "" : " '" + base::visibleText(text) + "'");
}

std::string tokenText(const ReadValue& value, std::int64_t id) {
    const std::string text = value.tokens ? value.tokens->of(id) : std::string();
    return std::to_string(id) + (text.empty() ? "" : " '" + base::visibleText(text) + "'");
}

bool hasAttention(const ReadValue& value) { return analysis::isAttention(value.tensor); }

Result<Lines> attentionLines(const ReadValue& value, const std::stop_token& stop) {
    const std::int64_t heads = countOf(leading(value.tensor));
    const std::int64_t queries = value.tensor.dim(value.tensor.rank() - 2),
                       keys = value.tensor.dim(value.tensor.rank() - 1);
    Rows rows;
    for (std::int64_t h = 0; h < heads && rows.size() < kMaxReadingLines; ++h) {
        const Tensor head = planeAt(value.tensor, h);
        const double entropy = analysis::meanEntropy(head);
        for (std::int64_t q = 0; q < queries && rows.size() < kMaxReadingLines; ++q) {
            if (stop.stop_requested()) return base::cancelled();
            Lines row{"head " + indexText(leading(value.tensor), h), fmt::format("{:.2f} bits", entropy),
                      "query " + positionText(value, q, queries)};
            for (const analysis::KeyShare& key : analysis::topKeys(head, q, kTopKeys))
                row.push_back(positionText(value, key.key, keys) + " " + readingPercent(key.share));
            rows.push_back(std::move(row));
        }
    }
    return readingTable(
        fmt::format("{} heads, {} queries, {} keys; mean entropy of each head, the keys with the largest share",
                    base::countText(heads), base::countText(queries), base::countText(keys)),
        rows, heads * queries);
}

bool hasTokens(const ReadValue& value) { return analysis::mayScoreTokens(value.tensor); }

Result<Lines> tokenLines(const ReadValue& value, const std::stop_token& stop) {
    const Tensor& tensor = value.tensor;
    const bool isOne = tensor.rank() < 2;
    const std::int64_t planes = countOf(leading(tensor));
    Rows rows;
    std::int64_t positions = isOne ? 1 : tensor.dim(tensor.rank() - 2);
    bool areProbabilities = false;
    for (std::int64_t p = 0; p < planes && rows.size() < kMaxReadingLines; ++p) {
        const std::int64_t none[] = {0};
        SONDE_ASSIGN(
            const analysis::TopTokens found,
            analysis::topTokens(isOne ? tensor::plane(tensor, -1, 0, none) : planeAt(tensor, p), kTopTokens, stop));
        areProbabilities = found.areProbabilities;
        for (std::size_t i = 0; i < found.positions.size() && rows.size() < kMaxReadingLines; ++i) {
            Lines row{planes > 1 ? indexText(leading(tensor), p) + ":" : std::string(),
                      positionText(value, static_cast<std::int64_t>(i), positions)};
            if (planes == 1) row.erase(row.begin());
            for (const analysis::TopTokens::Entry& entry : found.positions[i].top)
                row.push_back(tokenText(value, entry.id) + " " + readingPercent(entry.share));
            if (found.positions[i].bad > 0) row.push_back(base::countText(found.positions[i].bad) + " NaN or infinite");
            rows.push_back(std::move(row));
        }
    }
    return readingTable(fmt::format("{} of {} tokens; {}", areProbabilities ? "probabilities" : "logits",
                                    base::countText(tensor.dim(tensor.rank() - 1)),
                                    "the most likely ones at each position with their probability"),
                        rows, planes * positions);
}

bool hasChannels(const ReadValue& value) {
    return value.tensor.dtype() != tensor::DType::String && value.tensor.rank() >= 2 && value.tensor.numel() > 0;
}

Result<Lines> sparsityLines(const ReadValue& value, const std::stop_token& stop) {
    SONDE_ASSIGN(const analysis::ChannelSparsity found, analysis::channelSparsity(value.tensor, 1, stop));
    Rows rows;
    for (std::size_t i = 0; i < found.channels.size() && i < kMaxReadingLines; ++i) {
        const analysis::ChannelSparsity::Channel& channel = found.channels[i];
        rows.push_back({"channel " + std::to_string(i), readingPercent(found.zeroShare(i)) + " zero",
                        "largest |x| " + readingNumber(channel.largest), found.isDead(i) ? "dead" : ""});
        if (channel.bad > 0) rows.back().push_back(base::countText(channel.bad) + " NaN or infinite");
    }
    return readingTable(fmt::format("{} along axis 1, {} dead; {} of all elements are zero",
                                    base::countedText(static_cast<std::int64_t>(found.channels.size()), "channel"),
                                    base::countText(found.deadCount()), readingPercent(found.zeroShare())),
                        rows, static_cast<std::int64_t>(found.channels.size()));
}

bool hasFilters(const ReadValue& value) { return analysis::isFilterBank(value.tensor); }

bool hasSound(const ReadValue& value) { return mayBeSound(value.tensor); }

bool hasRows(const ReadValue& value) {
    return value.tensor.dtype() != tensor::DType::String && value.tensor.rank() >= 1 &&
           analysis::pcaShape(value.tensor, analysis::kRowsOfLastAxis)[0] >= 2;
}

Result<Lines> pcaLines(const ReadValue& value, const std::stop_token& stop) {
    SONDE_ASSIGN(const analysis::RowPca found, analysis::rowPca(value.tensor, analysis::kRowsOfLastAxis, stop));
    Rows rows;
    const auto shape = std::span(value.tensor.shape()).first(value.tensor.rank() - 1);
    for (const analysis::RowPca::Point& point : found.points) {
        if (rows.size() == kMaxReadingLines) break;
        rows.push_back({"row " + indexText(shape, point.row), readingNumber(point.x), readingNumber(point.y)});
    }
    return readingTable(
        fmt::format("{} rows of {}; the first two principal components explain {} and {} of the variance{}",
                    base::countText(found.rowCount), base::countText(found.columnCount),
                    readingPercent(found.explained[0]), readingPercent(found.explained[1]),
                    found.badRows > 0 ? "; " + base::countText(found.badRows) + " rows with NaN or Inf left out" : ""),
        rows, found.rowCount - found.badRows);
}

bool hasBits(const ReadValue& value) { return analysis::hasBits(value.tensor); }

Result<Lines> bitLines(const ReadValue& value, const std::stop_token&) {
    Rows rows;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(value.tensor.numel(), kMaxReadingLines); ++i)
        rows.push_back({"[" + indexText(value.tensor.shape(), i) + "]", value.tensor.elementText(i),
                        analysis::elementBits(value.tensor, i)});
    return readingTable("elements with their bits, the most significant first", rows, value.tensor.numel());
}

/// Statistics and the first elements of another reading of them: "magnitude", "real-values".
Result<Lines> elementLines(const ReadValue& value, std::string_view id, const std::stop_token& stop) {
    constexpr std::int64_t kFirst = 64;
    SONDE_ASSIGN(const Tensor read, analysis::readElements(value.tensor, id, value.quantization, stop));
    const analysis::TensorStats stats = analysis::tensorStats(read);
    std::string head = read.typeText();
    if (stats.finiteCount() > 0)
        head += fmt::format("  min {} max {} mean {} std {}", readingNumber(stats.minimum),
                            readingNumber(stats.maximum), readingNumber(stats.mean), readingNumber(stats.deviation));
    if (value.quantization) head += "  " + analysis::quantizationText(*value.quantization);
    Rows rows;
    for (std::int64_t i = 0; i < std::min(read.numel(), kFirst); ++i)
        rows.push_back(
            {"[" + indexText(read.shape(), i) + "]", read.elementText(i), "of " + value.tensor.elementText(i)});
    return readingTable(std::move(head), rows, read.numel());
}

/// For a hint.
std::string wordsOf(const ReadValue& value) {
    std::string words;
    const auto add = [&words](std::string_view id) { words += (words.empty() ? "" : ", ") + std::string(id); };
    for (const ValueReading& reading : valueReadings())
        if (reading.accepts(value)) add(reading.id);
    for (const auto* reading : analysis::readingsOf(value.tensor, value.quantization)) add(reading->id);
    return words.empty() ? "it has no other reading" : "readings of it are " + words;
}

}  // namespace

std::string readingNumber(double value) {
    constexpr int kDigits = 5;
    return base::roundedText(value == 0 ? 0 : value, kDigits);
}

std::string readingPercent(double share) { return fmt::format("{:.1f} %", 100 * share); }

ReadingLines readingTable(std::string head, const ReadingRows& rows, std::int64_t all) {
    ReadingLines lines{std::move(head)};
    for (std::string& line : base::alignedRows(rows)) lines.push_back(std::move(line));
    if (const std::int64_t more = all - static_cast<std::int64_t>(rows.size()); more > 0)
        lines.push_back("and " + base::countText(more) + " more");
    return lines;
}

const std::vector<ValueReading>& valueReadings() {
    static const std::vector<ValueReading> readings{
        {"attention", "of each head and query the keys with the largest share", hasAttention, attentionLines},
        {"tokens", "the most likely tokens at each position", hasTokens, tokenLines},
        {"sparsity", "zeros of each channel, and dead channels", hasChannels, sparsityLines},
        {"filters", "range, mean and norm of each filter of a convolution", hasFilters, filterLines},
        {"sound", "range and loudest frequency over time", hasSound, soundLines},
        {"pca", "rows by their first two principal components", hasRows, pcaLines},
        {"bits", "integers as bits", hasBits, bitLines},
    };
    return readings;
}

Result<Lines> readingLines(const ReadValue& value, std::string_view id, const std::stop_token& stop) {
    const auto found = std::ranges::find(valueReadings(), id, &ValueReading::id);
    const bool isOfElements = std::ranges::find(analysis::elementReadings(), id, &analysis::ElementReading::id) !=
                              analysis::elementReadings().end();
    if (found == valueReadings().end() && !isOfElements) {
        std::string words;
        for (const ValueReading& reading : valueReadings()) words += std::string(reading.id) + ", ";
        for (const auto& reading : analysis::elementReadings())
            words += (&reading == &analysis::elementReadings().front() ? "" : ", ") + std::string(reading.id);
        return base::usageError("a value cannot be read as '" + std::string(id.substr(0, 80)) + "'", {},
                                "readings are " + words);
    }
    if (isOfElements) {
        auto lines = elementLines(value, id, stop);
        const auto able = analysis::readingsOf(value.tensor, value.quantization);
        if (lines || std::ranges::find(able, id, &analysis::ElementReading::id) != able.end()) return lines;
        base::Error error = lines.error();
        error.hint = wordsOf(value);
        return error;
    }
    if (!value.tensor.defined() || !found->accepts(value))
        return base::usageError(value.tensor.typeText() + " cannot be read as " + std::string(id), {}, wordsOf(value));
    return found->lines(value, stop);
}

}  // namespace sonde::session
