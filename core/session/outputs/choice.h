#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/session_file/session_file.h"

namespace sonde::session::outputs {

/// How numbers are boxes.
struct BoxLayout {
    /// Corners left, top, right, bottom; top, left, bottom, right; corner and size; centre and size. Found: the first
    /// if every box then has its corners in order, else the last.
    enum class Corners { Found, XyXy, YxYx, XyWh, CxCyWh };
    Corners corners = Corners::Found;
    std::optional<bool> isNormalised;  ///< parts of the picture's width and height; none: if no number is above 1.5
    std::optional<bool> isTransposed;  ///< a column for each box; none: if there are fewer rows than columns
    int first = 0;                     ///< column of the first of the four numbers
    /// Where scores and classes are: a column ("4"), the columns from one on with a score for each class ("5+"),
    /// another output by its name, "none"; empty: what the columns look like, or an output with a number for each box.
    std::string score, classes;
    double threshold = 0.5;  ///< boxes with a lower score are not shown
    bool operator==(const BoxLayout&) const = default;
};

/// What somebody chose for an output. The default: what suits it best.
struct Choice {
    std::string output;  ///< name
    std::string form;    ///< id of a form; empty: the one that suits best
    std::string labels;  ///< file with a name for each class; empty: none was chosen
    std::string vocabulary;
    int top = 5;      ///< classes that are listed
    int sample = 0;   ///< of a batch
    BoxLayout boxes;  ///< of the form "boxes"

    bool isDefault() const { return *this == Choice{output, {}, {}, {}, 5, 0, {}}; }
    bool operator==(const Choice&) const = default;
};

inline constexpr int kMaxTop = 100;

/// The word of an arrangement: "xyxy"; "auto" for Found.
std::string_view name(BoxLayout::Corners corners);

/// What options are set to, in the order and spelling of parseOptions(); empty if nothing is chosen:
/// "top=3", "xyxy,normalised,score=4,class=5".
std::string optionsText(const Choice& choice);
/// Sets the options of a text: "top=N", "sample=N", of boxes "xyxy|yxyx|xywh|cxcywh", "normalised|pixels",
/// "transposed|rows", "first=N", "score=WHERE", "class=WHERE", "threshold=X"; "auto" for none. Errors (Usage): an
/// unknown word, a number that is none or out of range.
base::Result<void> parseOptions(std::string_view text, Choice& choice);
/// "[OUTPUT=]FORM[:OPTIONS]" or "[OUTPUT=]auto[:OPTIONS]" of a command line. Without an output: for all of them.
base::Result<Choice> parseChoice(std::string_view text);

/// The key of a session file with a list of choices. Files keep keys that readers of them do not know, so that older
/// versions do not lose it.
inline constexpr const char* kOutputsKey = "outputs";

/// Those of a session file; labels and vocabulary as they are named there. Errors (Unreadable): a key that is missing,
/// unknown or of a wrong type, a form or option that there is not, with its path: "outputs[3].form".
base::Result<std::vector<Choice>> choicesOf(const io::SessionFile& file);
/// The same of the text that is stored under kOutputsKey.
base::Result<std::vector<Choice>> parseChoices(std::string_view json);
/// Puts those that differ from the default into a session file, in place of those it has.
void storeChoices(io::SessionFile& file, const std::vector<Choice>& choices);
/// For a file that is written to another folder: names of files are relative to it, or absolute. Choices that cannot be
/// read stay as they are.
void moveChoices(io::SessionFile& file, const std::optional<std::filesystem::path>& before,
                 const std::filesystem::path& folder);

}  // namespace sonde::session::outputs
