#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/count_text.h"
#include "core/session/sound/sound_picture.h"
#include "core/session/value_readings/reading_lines.h"

namespace sonde::session {

namespace {

constexpr std::int64_t kMaxParts = 32;

struct LoudestBin {
    std::int64_t bin = 0;
    double decibels = SoundPicture::kFloor;  ///< under the loudest of the recording
};

/// The bin with the largest mean power in columns [begin, end).
LoudestBin loudestBin(const SoundPicture& picture, std::int64_t begin, std::int64_t end) {
    constexpr double kPowerDecibels = 10;
    LoudestBin loudest;
    for (std::int64_t bin = 0; bin < picture.bins; ++bin) {
        double power = 0;
        for (std::int64_t column = begin; column < end; ++column)
            power += std::pow(10.0, picture.at(bin, column) / kPowerDecibels);
        const double decibels = kPowerDecibels * std::log10(power / static_cast<double>(end - begin));
        if (decibels > loudest.decibels) loudest = {bin, decibels};
    }
    return loudest;
}

/// "440.6 Hz", or without a rate the share of it: "0.0275 of the rate".
std::string frequencyText(const SoundPicture& picture, std::int64_t bin) {
    const double share =
        static_cast<double>(bin) / (2.0 * static_cast<double>(std::max<std::int64_t>(picture.bins, 2) - 1));
    return picture.rate > 0 ? fmt::format("{:.1f} Hz", share * picture.rate) : fmt::format("{:.4f} of the rate", share);
}

/// "0.25 s", or without a rate "sample 4,096".
std::string timeText(const SoundPicture& picture, std::int64_t sample) {
    return picture.rate > 0 ? fmt::format("{:.3f} s", static_cast<double>(sample) / picture.rate)
                            : "sample " + base::countText(sample);
}

std::string headText(const SoundPicture& picture) {
    std::string text = base::countText(picture.samples) + " samples";
    if (picture.rate > 0)
        text += fmt::format(" at {} Hz, {} s", base::countText(picture.rate), readingNumber(picture.seconds()));
    if (picture.channels > 1) text += fmt::format("; the first of {} rows", base::countText(picture.channels));
    return text + "; from each time on the range, and the loudest frequency with its level under the loudest of all";
}

}  // namespace

base::Result<ReadingLines> soundLines(const ReadValue& value, const std::stop_token& stop) {
    SONDE_ASSIGN(const SoundPicture picture, soundPicture(value.tensor, value.rate, SoundPicture::kMaxColumns, stop));
    const auto waves = static_cast<std::int64_t>(picture.wave.size());
    const std::int64_t parts = std::min({kMaxParts, picture.columns, waves});
    ReadingRows rows;
    for (std::int64_t part = 0; part < parts; ++part) {
        const auto begin = picture.wave.begin() + waves * part / parts,
                   end = picture.wave.begin() + waves * (part + 1) / parts;
        const float low = std::min_element(begin, end)->first;
        const float high =
            std::max_element(begin, end, [](const auto& a, const auto& b) { return a.second < b.second; })->second;
        const LoudestBin loudest =
            loudestBin(picture, picture.columns * part / parts, picture.columns * (part + 1) / parts);
        rows.push_back(
            {timeText(picture, picture.samples * part / parts), readingNumber(low) + " to " + readingNumber(high)});
        if (loudest.decibels <= SoundPicture::kFloor) rows.back().push_back("silent");
        else {
            rows.back().push_back(frequencyText(picture, loudest.bin));
            rows.back().push_back(fmt::format("{:.1f} dB", loudest.decibels));
        }
    }
    return readingTable(headText(picture), rows, parts);
}

}  // namespace sonde::session
