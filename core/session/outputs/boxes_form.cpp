// Rectangles over the input picture.

#include <algorithm>
#include <cmath>

#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/session/outputs/box_columns.h"
#include "core/session/outputs/forms.h"
#include "core/session/outputs/pixels.h"

namespace sonde::session::outputs {

namespace {

using Kind = BoxSource::Kind;

constexpr std::int64_t kMaxShownBoxes = 100, kMaxBoxes = 1'000'000, kMaxLikelyColumns = 7, kManyBoxes = 1'000;
constexpr std::int64_t kBoxSides = 4;  ///< of a box with nothing else

bool haveScoresBehind(const BoxNumbers& numbers) {
    constexpr std::int64_t kFirstScore = 4;
    for (std::int64_t column = kFirstScore; column < numbers.columns; ++column)
        if (!isShare(numbers, column)) return false;
    return numbers.columns > kFirstScore;
}

int suitsOwnBoxes(const Facts& facts) {
    if ((!facts.isFloat() && !facts.isInteger()) || facts.stats.count == 0) return kCannot;
    const auto numbers = boxNumbers(facts, {}, 0);
    if (!numbers || numbers->count > kMaxBoxes) return kCannot;
    if (facts.isNamed({"box", "detection", "rois"})) return kVeryLikely + 6;
    if (!facts.pictureInput() || facts.isNamed({"logit", "prob", "hidden", "embed"})) return kUnlikely;
    const bool isBatch = facts.rank() == 2 && facts.dim(0) == facts.batch();
    if (isBatch) return kUnlikely;
    if (numbers->columns <= kMaxLikelyColumns)
        return facts.stats.finiteCount() == facts.stats.count ? kLikely + 5 : kUnlikely;
    return facts.rank() == 3 && haveScoresBehind(*numbers) ? kLikely + 1 : kUnlikely;
}

/// The boxes of which an output has the scores or classes, by the way they are read if nothing else is chosen.
std::optional<Facts> boxesBeside(const Facts& facts) {
    if (!facts.tensor.defined() || facts.stats.count == 0) return std::nullopt;
    for (const auto& [name, value] : facts.outputs) {
        if (name == facts.name || !value.isTensor()) continue;
        const tensor::Tensor& boxes = value.tensor();
        const bool isOne = boxes.rank() >= 2 && boxes.dim(boxes.rank() - 1) == kBoxSides &&
                           boxes.numel() == kBoxSides * facts.tensor.numel() && boxes.numel() <= kBoxSides * kMaxBoxes;
        if (!isOne) continue;
        const auto contiguous = boxes.contiguous();
        if (!contiguous) continue;
        Facts other{name, value, *contiguous, analysis::tensorStats(*contiguous), facts.inputs, facts.outputs};
        if (suitsOwnBoxes(other) < kLikely) continue;
        const auto numbers = boxNumbers(other, {}, 0);
        const auto reading = numbers ? readingOf(*numbers, {}) : base::Result<BoxReading>(base::usageError("no boxes"));
        if (reading && (reading->score.output == facts.name || reading->classes.output == facts.name)) return other;
    }
    return std::nullopt;
}

/// Scores and classes are seen with their boxes.
int suitsBoxes(const Facts& facts) {
    const int own = suitsOwnBoxes(facts);
    return own < kLikely && boxesBeside(facts) ? kVeryLikely + 6 : own;
}

std::int64_t boxSamples(const Facts& facts) {
    if (suitsOwnBoxes(facts) < kLikely)
        if (const auto boxes = boxesBeside(facts)) return boxes->rank() == 3 ? boxes->tensor.dim(0) : 1;
    return facts.rank() == 3 ? facts.tensor.dim(0) : 1;
}

/// Numbers of one kind, one for each box.
class BoxValues {
  public:
    BoxValues(const BoxNumbers& numbers, const BoxSource& source) : m_numbers(numbers), m_source(source) {
        for (const auto& [name, value] : numbers.facts.outputs)
            if (source.kind == Kind::Output && name == source.output && value.isTensor()) m_output = &value.tensor();
    }
    double of(std::int64_t box) const {
        if (m_source.kind == Kind::Column) return m_numbers.at(box, m_source.column);
        return m_output ? m_output->toDouble(m_numbers.sample * m_numbers.count + box)
                        : std::numeric_limits<double>::quiet_NaN();
    }

  private:
    const BoxNumbers& m_numbers;
    const BoxSource& m_source;
    const tensor::Tensor* m_output = nullptr;
};

/// Corners in pixels.
void place(const BoxNumbers& numbers, const BoxReading& reading, std::int64_t index, double width, double height,
           Boxes::Box& box) {
    const auto at = [&](std::int64_t i) { return numbers.at(index, reading.first + i); };
    switch (reading.corners) {
        case BoxLayout::Corners::Found:
        case BoxLayout::Corners::XyXy: box.left = at(0), box.top = at(1), box.right = at(2), box.bottom = at(3); break;
        case BoxLayout::Corners::YxYx: box.top = at(0), box.left = at(1), box.bottom = at(2), box.right = at(3); break;
        case BoxLayout::Corners::XyWh:
            box.left = at(0), box.top = at(1), box.right = at(0) + at(2), box.bottom = at(1) + at(3);
            break;
        case BoxLayout::Corners::CxCyWh:
            box.left = at(0) - at(2) / 2, box.top = at(1) - at(3) / 2;
            box.right = at(0) + at(2) / 2, box.bottom = at(1) + at(3) / 2;
            break;
    }
    if (!reading.isNormalised) return;
    box.left *= width, box.right *= width, box.top *= height, box.bottom *= height;
}

/// Class and score of a box that has a score for each class.
void decide(const BoxNumbers& numbers, std::int64_t index, std::int64_t first, Boxes::Box& box) {
    double most = 0;
    for (std::int64_t column = first; column < numbers.columns; ++column) {
        const double value = numbers.at(index, column);
        if (!std::isnan(value) && (box.index < 0 || value > most)) box.index = column - first, most = value;
    }
    if (box.index >= 0) box.score = std::isnan(box.score) ? most : box.score * most;
}

bool isFinite(const Boxes::Box& box) {
    return std::isfinite(box.left) && std::isfinite(box.top) && std::isfinite(box.right) && std::isfinite(box.bottom);
}

base::Result<Made> makeBoxes(const FormRequest& request) {
    if (suitsOwnBoxes(request.facts) < kLikely)
        if (const auto boxes = boxesBeside(request.facts)) {
            SONDE_ASSIGN(Made made, makeBoxes({*boxes, request.choice, request.labels, request.tokens, request.stop}));
            made.shownWith = boxes->name;
            made.notes.push_back("the boxes are those of output '" + boxes->name + "'");
            return made;
        }
    const BoxLayout& layout = request.choice.boxes;
    const auto numbers = boxNumbers(request.facts, layout.isTransposed, request.choice.sample);
    if (!numbers) return base::usageError("boxes need four numbers each: " + request.facts.tensor.typeText());
    SONDE_ASSIGN(const BoxReading reading, readingOf(*numbers, layout));
    Made made;
    Boxes boxes;
    boxes.layout = reading.text(*numbers);
    boxes.count = numbers->count;
    if (const InputFact* const input = request.facts.pictureInput()) {
        SONDE_ASSIGN(Pixels under, inputPixels(*input, numbers->sample));
        const PictureShape shape = *pictureShape(input->tensor.shape());
        boxes.under = std::move(under.picture);
        boxes.width = static_cast<double>(shape.width);
        boxes.height = static_cast<double>(shape.height);
    }
    const bool hasPicture = boxes.width > 0;
    const BoxValues scores(*numbers, reading.score), classes(*numbers, reading.classes);
    std::int64_t bad = 0;
    for (std::int64_t i = 0; i < numbers->count; ++i) {
        if (request.stop.stop_requested()) return base::cancelled();
        Boxes::Box box;
        place(*numbers, reading, i, hasPicture ? boxes.width : 1, hasPicture ? boxes.height : 1, box);
        box.score = scores.of(i);
        if (reading.classes.kind == Kind::Columns) decide(*numbers, i, reading.classes.column, box);
        else if (const double found = classes.of(i); found >= 0 && found < 1e9)
            box.index = static_cast<std::int64_t>(found);
        if (!isFinite(box)) ++bad;
        else if (std::isnan(box.score) || box.score >= layout.threshold) boxes.boxes.push_back(std::move(box));
    }
    boxes.passing = static_cast<std::int64_t>(boxes.boxes.size());
    // One without a score comes last.
    const auto rank = [](const Boxes::Box& box) {
        return std::isnan(box.score) ? -std::numeric_limits<double>::infinity() : box.score;
    };
    std::ranges::stable_sort(boxes.boxes, std::ranges::greater{}, rank);
    if (boxes.passing > kMaxShownBoxes) boxes.boxes.resize(static_cast<std::size_t>(kMaxShownBoxes));
    for (Boxes::Box& box : boxes.boxes) {
        box.name = labelOf(request, box.index);
        if (hasPicture) continue;
        boxes.width = std::max(boxes.width, box.right);
        boxes.height = std::max(boxes.height, box.bottom);
    }
    if (bad > 0) made.notes.push_back(base::countText(bad) + " boxes have NaN or infinite corners");
    if (boxes.passing > kMaxShownBoxes)
        made.notes.push_back("the " + std::to_string(kMaxShownBoxes) + " boxes with the highest scores of " +
                             base::countText(boxes.passing));
    if (boxes.count > kManyBoxes && boxes.passing > 1)
        made.notes.emplace_back("boxes that overlap are shown as they are, not merged");
    if (!hasPicture) made.notes.emplace_back("no input is a picture: the boxes are drawn alone");
    made.content = std::move(boxes);
    return made;
}

}  // namespace

Form boxesForm() {
    return {.id = "boxes",
            .title = "Boxes",
            .description = "Rectangles with scores and classes, over the input picture",
            .suits = suitsBoxes,
            .make = makeBoxes,
            .usesLabels = true,
            .usesSample = true,
            .usesBoxes = true,
            .samples = boxSamples};
}

}  // namespace sonde::session::outputs
