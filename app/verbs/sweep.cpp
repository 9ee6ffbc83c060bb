#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/base/counted_text.h"
#include "core/document/output_check.h"
#include "core/session/sweep/sweep_output.h"

namespace sonde::app {

namespace {

/// Where every input fails, one after the other says nothing new.
constexpr std::size_t kMaxWarnings = 20;

struct SweepOptions {
    ModelOptions model;
    std::string inputs, condition, labels, out;
    std::vector<std::string> watch;
    std::string image = "bgr";
    std::optional<std::uint64_t> seed;
    std::size_t threads = 0;
    bool json = false;
};

/// The table, line by line: to a file, else to standard output unless that has the JSON. What is no table after all,
/// as the condition is wrong, leaves nothing: lines are held back until an input gave values.
class SweepTable {
  public:
    SweepTable(const std::string& path, bool isSilent) : m_path(path), m_isSilent(isSilent) {}
    /// Whether the file can be written, as far as that is known before the first of many runs. It stays as it is.
    base::Result<void> check() const {
        std::error_code ignored;
        const bool isThere = std::filesystem::exists(m_path, ignored);
        if (m_path.empty() || (isThere && !std::filesystem::is_regular_file(m_path, ignored))) return {};
        const bool canWrite = std::ofstream(m_path, std::ios::app).good();
        if (!isThere) std::filesystem::remove(m_path, ignored);
        return canWrite ? base::Result<void>() : cannotWrite();
    }
    void hold(const std::string& line) { m_held += line; }
    void add(const std::string& line) {
        release();
        write(line);
    }
    /// Writes what was held back.
    void release() {
        if (m_isReleased) return;
        m_isReleased = true;
        if (!m_path.empty()) m_file.open(m_path, std::ios::binary | std::ios::trunc);
        write(m_held);
    }
    bool isReleased() const { return m_isReleased; }
    base::Result<void> state() const {
        return m_isReleased && !m_path.empty() && !m_file ? cannotWrite() : base::Result<void>();
    }

  private:
    base::Error cannotWrite() const { return base::runError("the table cannot be written", m_path); }
    void write(const std::string& text) {
        if (!m_path.empty()) m_file << text << std::flush;
        else if (!m_isSilent) fmt::print("{}", text);
    }

    std::string m_path, m_held;
    bool m_isSilent, m_isReleased = false;
    std::ofstream m_file;
};

base::Result<int> sweepModel(SweepOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load({}, {.outputs = {{"-o", options.out}},
                                                              .inputData = {options.inputs, options.labels}}));
    session::SweepRequest request;
    request.condition = options.condition;
    request.preset = options.image;
    request.seed = seedOf(*document, {.spec = {}, .seed = options.seed});
    request.threads = options.threads;
    SONDE_ASSIGN(request.watch, nodesFor(*document, options.watch));
    // What the command line says takes the place of what a session file has.
    if (request.watch.empty() && document->session) {
        session::Session session(commandLineWork());
        showIn(session, document);
        request.watch = session.points().kept();
    }
    if (!options.labels.empty()) {
        SONDE_ASSIGN(request.labels, session::SweepLabels::read(options.labels));
    }
    SONDE_ASSIGN(const session::Sweep sweep, session::Sweep::make(document, std::move(request)));
    const base::WorkContext work = commandLineWork();
    SONDE_ASSIGN(const session::SweepInputs inputs, session::sweepInputs(options.inputs, work));
    if (!inputs.leftOut.empty())
        printNotes(
            {fmt::format("{} neither pictures nor arrays: {}{}",
                         inputs.leftOut.size() == 1 ? "1 file is" : fmt::format("{} files are", inputs.leftOut.size()),
                         inputs.leftOut.front(), inputs.leftOut.size() > 1 ? ", …" : "")});
    SONDE_TRY(sweep.labels().checkFor(inputs.inputs));
    std::vector<document::FileRead> read;
    for (const session::SweepInput& input : inputs.inputs) read.push_back({input.path, "an input file"});
    if (!options.out.empty()) SONDE_TRY(document::checkOutput(options.out, "-o", read));
    SweepTable table(options.out, options.json);
    SONDE_TRY(table.check());
    table.hold(session::sweepCsvTitle(sweep));
    if (!sweep.hasCondition()) table.release();
    SONDE_TRY(table.state());
    std::vector<session::SweepRow> rows;  // for the JSON
    std::vector<std::string> broken;
    session::SweepClasses classes;
    std::size_t warnings = 0;
    const auto warn = [&warnings](const std::string& text, const std::string& where) {
        if (++warnings <= kMaxWarnings) printWarning(text, where);
    };
    for (const std::string& text : sweep.labels().unused(inputs.inputs)) warn(text, options.labels);
    const auto take = [&](const session::SweepRow& row) {
        if (row.error && !table.isReleased()) table.hold(session::sweepCsvRow(sweep, row));
        else table.add(session::sweepCsvRow(sweep, row));
        if (row.error) warn(row.input + ": " + row.error->what, row.error->where);
        else if (!row.labelError.empty()) warn(row.input + ": " + row.labelError, options.labels);
        classes.add(row);
        if (row.condition == false) broken.push_back(row.input);
        if (options.json) rows.push_back(row);
    };
    SONDE_ASSIGN(const session::SweepSummary summary, sweep.run(inputs.inputs, take, work));
    table.release();
    SONDE_TRY(table.state());
    if (warnings > kMaxWarnings)
        printNotes({fmt::format("{} more warnings like these are not printed", warnings - kMaxWarnings)});
    if (options.json) fmt::print("{}", session::sweepJson(*document, sweep, summary, rows, classes));
    // Beside a table on standard output it is for people only.
    const std::string text = session::sweepText(sweep, summary, broken, classes);
    if (!options.json) fmt::print(options.out.empty() ? stderr : stdout, "{}", text);
    if (summary.isCancelled)
        return base::cancelled(fmt::format("after {} of {} inputs", summary.done, inputs.inputs.size()));
    return summary.isComplete() ? 0 : 1;
}

}  // namespace

Verb sweepVerb() {
    return {
        "sweep", "Run a model on many inputs: statistics of nodes as a table",
        "sonde sweep model.onnx pictures/ --watch conv1 --where 'max(abs(conv1)) < 6' -o table.csv",
        [](CLI::App& command) {
            auto options = std::make_shared<SweepOptions>();
            options->model.addTo(command);
            command
                .add_option("INPUTS", options->inputs,
                            "Folder of pictures and arrays (with the folders in it), or an .npz with cases")
                ->required();
            command
                .add_option(
                    "--watch", options->watch,
                    "Node whose statistics are in the table: name, #number or MODULE: (again for more; default: those of the session, else the outputs)")
                ->allow_extra_args(false);
            command
                .add_option("--where", options->condition,
                            "Condition over nodes, in the expression language; inputs for which it is false are listed")
                ->check(notEmpty());
            command.add_option(
                "--labels", options->labels,
                "Class of each input: lines \"input,label\", or a label a line in the order of the inputs; of a batch "
                "one for each sample, \"input,3 5\"");
            command.add_option("-o,--out", options->out, "Write the table (CSV) to this file");
            std::vector<std::string> presets;
            for (const io::ImagePreset& preset : io::imagePresets()) presets.emplace_back(preset.id);
            command.add_option("--image", options->image, "Conversion of images to numbers, as of `sonde run`")
                ->check(CLI::IsMember(presets))
                ->capture_default_str();
            command.add_flag("--json", options->json, "One JSON object in place of the table");
            addSeed(command, options->seed, "Seed of random inputs and operators");
            addThreads(command, options->threads);
            command.footer(
                "One row for each input, in the order of their names (2.png before 10.png). A file that cannot be read, or on\n"
                "which the run fails, is a row without values: its error is told, the others go on, and the exit status is 1.\n"
                "The same for an input that --labels has no label for, or none that fits; its row has the values.\n"
                "Ctrl+C ends with status 5; the rows that are done are in the table. A false condition is no failure.\n"
                "predicted is the index of the largest element of the first output; of a batch, for each sample.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return sweepModel(*options); });
        }};
}

}  // namespace sonde::app
