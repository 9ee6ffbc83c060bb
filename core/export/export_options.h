#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/export/dump.h"
#include "core/io/onnx/onnx_writer.h"

namespace sonde::exporting {

// Every option of an export is one row of exportOptions(). `sonde dump` and `sonde save` make their options of these
// rows, the window its export dialog, and files of a choice (export_choice.h) name their values. To add an option:
//
//   1. give DumpOptions, io::dump::InferenceOptions or ExportSettings a member with the default;
//   2. add one row to a group in export_options.cpp:
//
//          {.name = "keep-opr-priority", .group = kNames, .label = "Priorities of operations",
//           .help = "Keep the order in which operations are to be run", .formats = {ExportFormat::Dump},
//           .field = [](ExportSettings& s) -> OptionField { return &s.dump.keepOprPriority; }},
//
// The member's type says what the option is: bool a switch, int with `choices` one of several values, std::string a
// text, std::vector<std::string> a list. The default is what the member has in ExportSettings{}. A switch that is on by
// default is spelled --no-NAME.

enum class ExportFormat : std::uint8_t { Dump, Onnx, TracedModule };

/// What the three formats are called.
struct ExportFormatInfo {
    ExportFormat format;
    std::string_view id;      ///< "dump": in files and settings
    std::string_view name;    ///< "Static graph"
    std::string_view suffix;  ///< "dump", without a dot
    std::string_view help;
};
const std::vector<ExportFormatInfo>& exportFormats();
const ExportFormatInfo& infoOf(ExportFormat format);

/// All that decides what is written, whatever the format.
struct ExportSettings {
    DumpOptions dump;
    std::vector<std::string> inputData;  ///< test cases of a dump: input data, or @FILE
    bool append = false;                 ///< a dump is written after what the file holds
    std::string stripInfoFile;           ///< JSON of what a runtime must have; empty: none
    bool appendJson = false;             ///< what that file lists stays
    std::string userInfoFile;            ///< its bytes are DumpOptions::userInfo; empty: none
    io::OnnxWriteOptions onnx;
    std::vector<std::string> passes;  ///< ids, run in order before the model is written (not for dumps)
};

/// Where an option's value is.
using OptionField = std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::vector<std::string>*>;

/// How an option is given on the command line.
enum class Spelling : std::uint8_t {
    Own,        ///< --NAME, or --no-NAME for a switch that is on by default
    Inference,  ///< --option NAME, --option NAME=false; of choices --option enable_VALUE
    OfModel     ///< by an option that every verb has (--pass)
};

/// One of the values that an option can have.
struct OptionChoice {
    std::string_view value;
    std::string_view help;
};

/// One option.
struct ExportOption {
    std::string_view name;     ///< "keep-var-name"; stable: files of choices and the command line have it
    std::string_view group;    ///< "Names"
    std::string_view label;    ///< in the window: "Names of values"
    std::string_view help;     ///< of the option's command line form
    std::string_view details;  ///< what it changes, in a sentence for the window; empty: `help` says it
    std::vector<ExportFormat> formats;
    OptionField (*field)(ExportSettings& settings) = nullptr;
    std::vector<OptionChoice> choices = {};                         ///< empty: any value
    double min = 0, max = std::numeric_limits<double>::infinity();  ///< of numbers
    bool keepsEmpty = false;                                        ///< of a list: empty items are items
    bool oneEach = false;    ///< of a list: given once for each item, else once with commas between them
    std::string_view needs;  ///< switch or list: has no effect where that is off or empty; empty: always has one
    /// The option that takes its effect away; empty: none does. Null: none ever does.
    std::string_view (*overruled)(const ExportSettings&) = nullptr;
    bool changesGraph = false;  ///< what is written computes in another way; a preview has a line for each of these
    std::string_view off = {};  ///< of one that changes the graph: the value with which it does not; empty: the default
    bool ofModel = false;       ///< belongs to one model or file: not what another one begins with
    Spelling spelling = Spelling::Own;
    std::string_view reference = {};  ///< what MegEngine calls it, where that is not `name`: "enable_metadata"

    bool isFor(ExportFormat format) const;
    bool isSwitch() const;
    bool isList() const;
    bool isNumber() const;
    /// The default, as text().
    std::string defaultText() const;
    /// The value: "true", "2", "1e-04", a list with commas (with line breaks if each is given on its own).
    std::string text(const ExportSettings& settings) const;
    /// Sets it from such a text. Errors (Usage) name the option: no such choice, no number, out of range.
    base::Result<void> set(ExportSettings& settings, std::string_view text) const;
    /// `off`, or the default.
    std::string offText() const;
    /// Whether what it needs is switched on, or has an item, and no other option overrules it.
    bool hasEffect(const ExportSettings& settings) const { return whyNoEffect(settings).empty(); }
    /// "without --input-data", "with --no-assert"; empty: it has one.
    std::string whyNoEffect(const ExportSettings& settings) const;
    /// "--keep-var-name", "--no-metadata", "--option enable_fuse_grain".
    std::string spelled() const;
};

/// All of them; those of one group follow each other.
const std::vector<ExportOption>& exportOptions();
/// Null: there is none of that name.
const ExportOption* findExportOption(std::string_view name);

/// Sets what --option says: NAME, NAME=true or NAME=false for each. As in MegEngine, options of an optimisation that is
/// off are taken and left aside: those that are not known are returned as warnings. Errors (Usage): unknown options, a
/// second layout, another value than true or false.
base::Result<std::vector<std::string>> setInferenceOptions(ExportSettings& settings,
                                                           std::span<const std::string> options);

}  // namespace sonde::exporting
