// Sonde and ONNX Runtime in turn on the same ONNX files, in one table:
//
//     bench_against_peers --library libonnxruntime.so.1 [MODEL…]
//
// MODEL is an ONNX file or a built-in model (zoo:resnet18), which is written as one; default: those of the goal table.
// Each way to run a model is a process of its own (against_peers/worker.h), and in each round every one has its turn.
// The table has minima and medians of all runs in ms, and the peak of memory; JSON lines say the same. A model's rows
// are unusable if the minima of the peer's first and second half of the rounds differ by more than 10 %: then the
// machine was not the same throughout. Numbers are compared before times: largest difference of the first output from
// ONNX Runtime's without optimisations, relative to its largest element.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

#include "core/document/document.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/io/onnx/onnx_writer.h"
#include "tests/bench/against_peers/worker.h"

using namespace sonde;
using namespace sonde::bench;

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr double kMaxDrift = 0.10;       ///< between the halves of the peer's runs
constexpr double kMaxDifference = 1e-4;  ///< of outputs, relative to the largest element

struct Options {
    WorkerTask worker;  ///< --worker: this process is one
    std::vector<std::string> models{"zoo:resnet18",    "zoo:resnet50", "zoo:mobilenet_v2",
                                    "zoo:densenet121", "zoo:vit_b_16", "zoo:bert_base"};
    std::vector<std::size_t> threads{1, 2};
    std::vector<std::string> ways;
    std::size_t rounds = 6, runs = 5;
    bool usesProcessorTime = false;
    std::string folder, lines;
};

/// What one way took: all rounds one after the other.
struct Measured {
    const Way* way = nullptr;
    std::unique_ptr<Worker> worker;
    std::vector<double> wall, processor;
    double peakMb = 0, difference = 0;
};

double minimum(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// How far the minima of both halves are from each other, relative to the smaller one.
double drift(const std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    const double a = *std::min_element(values.begin(), middle), b = *std::min_element(middle, values.end());
    return std::max(a, b) / std::min(a, b) - 1;
}

double largestDifference(const std::vector<float>& actual, const std::vector<float>& reference) {
    if (actual.size() != reference.size()) return std::numeric_limits<double>::infinity();
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        difference = std::max(difference, static_cast<double>(std::abs(actual[i] - reference[i])));
        largest = std::max(largest, static_cast<double>(std::abs(reference[i])));
    }
    return largest > 0 ? difference / largest : difference;
}

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "an unknown processor";
}

double load() {
    double now = 0;
    return ::getloadavg(&now, 1) == 1 ? now : -1;
}

/// A model as an ONNX file: itself, or a built-in one, written to the folder unless it is there.
base::Result<std::string> fileOf(const std::string& model, const fs::path& folder) {
    if (!model.starts_with("zoo:")) return model;
    std::string name = model.substr(4);
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    const fs::path path = folder / (name + ".onnx");
    if (fs::exists(path)) return path.string();
    SONDE_ASSIGN(const auto document, document::open(model));
    std::vector<tensor::Value> inputs;
    for (const graph::NodeId node : document->graph->inputs()) {
        const tensor::TypeInfo& type = document->graph->node(node).type;
        SONDE_ASSIGN(tensor::Tensor x, inputOf(type.dtype, type.staticShape().value_or(tensor::Shape{1})));
        inputs.emplace_back(std::move(x));
    }
    SONDE_ASSIGN(const exporting::OnnxGraph onnx, exporting::onnxGraph(*document, inputs));
    SONDE_TRY(io::writeOnnx(path, *onnx.graph));
    return path.string();
}

class Comparison {
  public:
    Comparison(const Options& options, std::string program, std::size_t threads, std::string model)
        : m_options(options), m_program(std::move(program)), m_threads(threads), m_model(std::move(model)) {}

    base::Result<void> run(const std::string& file) {
        SONDE_TRY(start(file));
        compareOutputs();
        for (std::size_t round = 0; round < m_options.rounds; ++round) {
            for (Measured& each : m_measured) {
                SONDE_ASSIGN(const Times times, each.worker->run(m_options.runs));
                each.wall.insert(each.wall.end(), times.wall.begin(), times.wall.end());
                each.processor.insert(each.processor.end(), times.processor.begin(), times.processor.end());
                each.peakMb = times.peakMb;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until its threads no longer spin
            }
        }
        return {};
    }

    void printRows() const {
        for (const Measured& each : m_measured) {
            fmt::print("{:<14} {:>1}T  {:<16} {:>9.2f} {:>9.2f}", m_model, m_threads, each.way->title,
                       minimum(times(each)), median(times(each)));
            for (const char* other : {"ort-all", "ort-disabled", "ort-all-outputs", "sonde"}) {
                const Measured* const found = find(other);
                if (found && found != &each) fmt::print(" {:>8.2f}", minimum(times(each)) / minimum(times(*found)));
                else fmt::print(" {:>8}", "");
            }
            fmt::print(" {:>8.0f}{}{}\n", each.peakMb,
                       each.difference > kMaxDifference ? fmt::format("  OUTPUT DIFFERS {:.1e}", each.difference) : "",
                       peerDrift() > kMaxDrift ? fmt::format("  UNUSABLE: peer {:+.0f} %", 100 * peerDrift()) : "");
        }
        std::fflush(stdout);
    }

    void writeLines(std::ostream& stream, const std::string& machine) const {
        for (const Measured& each : m_measured) {
            stream << ordered_json{{"model", m_model},
                                   {"threads", m_threads},
                                   {"way", each.way->name},
                                   {"version", each.worker->version()},
                                   {"runs", each.wall.size()},
                                   {"min_ms", minimum(each.wall)},
                                   {"median_ms", median(each.wall)},
                                   {"processor_min_ms", minimum(each.processor)},
                                   {"processor_median_ms", median(each.processor)},
                                   {"peak_rss_mb", each.peakMb},
                                   {"difference", each.difference},
                                   {"peer_drift", peerDrift()},
                                   {"usable", peerDrift() <= kMaxDrift},
                                   {"load", load()},
                                   {"machine", machine}}
                          .dump()
                   << std::endl;
        }
    }

    std::string versions() const {
        std::string text;
        for (const bool isPeer : {false, true})
            for (const Measured& each : m_measured) {
                if (each.way->isPeer != isPeer) continue;
                text += (isPeer ? ", ONNX Runtime " : "Sonde with kernels ") + each.worker->version();
                break;
            }
        return text;
    }

  private:
    base::Result<void> start(const std::string& file) {
        for (const Way& way : kWays) {
            if (!m_options.ways.empty() && std::ranges::find(m_options.ways, way.name) == m_options.ways.end())
                continue;
            Measured measured{&way, std::make_unique<Worker>(), {}, {}, 0, 0};
            SONDE_TRY(measured.worker->start(m_program, {way.name, file, m_options.worker.library, m_threads}));
            m_measured.push_back(std::move(measured));
        }
        return {};
    }

    void compareOutputs() {
        const Measured* reference = find("ort-disabled");
        if (!reference) reference = find("ort-all");
        for (Measured& each : m_measured)
            if (reference) each.difference = largestDifference(each.worker->output(), reference->worker->output());
    }

    const Measured* find(std::string_view way) const {
        const auto found =
            std::ranges::find_if(m_measured, [&](const Measured& each) { return each.way->name == way; });
        return found == m_measured.end() ? nullptr : &*found;
    }

    /// On one thread the neighbours of the machine hardly change the processor's time.
    const std::vector<double>& times(const Measured& each) const {
        return m_options.usesProcessorTime && m_threads == 1 ? each.processor : each.wall;
    }

    double peerDrift() const {
        double worst = 0;
        for (const Measured& each : m_measured)
            if (each.way->isPeer && !each.way->watchesAll) worst = std::max(worst, drift(times(each)));
        return worst;
    }

    const Options& m_options;
    std::string m_program;
    std::size_t m_threads;
    std::string m_model;
    std::vector<Measured> m_measured;
};

/// Errors of one model are printed, and the others measured. Whether there was none. Errors (Usage): the file of lines
/// cannot be written.
base::Result<bool> compare(const Options& options) {
    std::ofstream lines;
    if (!options.lines.empty()) lines.open(options.lines, std::ios::app);
    if (!lines) return base::usageError("the file cannot be written", options.lines);
    const std::string program = fs::read_symlink("/proc/self/exe").string();
    const bool isOwn = options.folder.empty();
    const fs::path folder = isOwn ? fs::temp_directory_path() / fmt::format("bench_against_peers_{}", ::getpid())
                                  : fs::path(options.folder);
    fs::create_directories(folder);
    const std::string machine = fmt::format("{}, {} processors", processorName(), std::thread::hardware_concurrency());
    fmt::print("{}, load {:.2f}; {} rounds of {} runs; {}\n", machine, load(), options.rounds, options.runs,
               options.usesProcessorTime ? "processor time on one thread, wall time on more" : "wall time");
    bool isFirst = true, isComplete = true;
    for (const std::string& model : options.models) {
        const auto file = fileOf(model, folder);
        if (!file) fmt::print("{}: {}\n", model, file.error().text());
        isComplete = isComplete && file;
        for (const std::size_t threads : options.threads) {
            if (!file) break;
            Comparison comparison(options, program, threads, fs::path(*file).stem().string());
            if (const auto ran = comparison.run(*file); !ran) {
                fmt::print("{}: {}\n", model, ran.error().text());
                isComplete = false;
                continue;
            }
            if (std::exchange(isFirst, false)) {
                fmt::print("{}\n{:<14} {:>2}  {:<16} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
                           comparison.versions(), "model", "", "", "min ms", "median", "/all", "/disabl.", "/outputs",
                           "/plain", "peak MB");
            }
            comparison.printRows();
            if (lines.is_open()) comparison.writeLines(lines, machine);
        }
    }
    if (isOwn) fs::remove_all(folder);
    return isComplete;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    std::vector<std::string> ways;
    for (const Way& way : kWays) ways.emplace_back(way.name);
    CLI::App command("Sonde and ONNX Runtime in turn, in one table");
    std::vector<std::string> models;
    command.add_option("MODEL", models, "ONNX files and built-in models (zoo:resnet18)");
    command.add_option("--library", options.worker.library, "ONNX Runtime's libonnxruntime.so; its code is run")
        ->required();
    command.add_option("--threads", options.threads, "Numbers of threads")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->capture_default_str();
    command.add_option("--ways", options.ways, "Only these: " + CLI::detail::join(ways))
        ->allow_extra_args(false)
        ->delimiter(',')
        ->check(CLI::IsMember(ways));
    command.add_option("--rounds", options.rounds, "Turns of each way")
        ->check(CLI::Range(2, 1000))
        ->capture_default_str();
    command.add_option("--runs", options.runs, "Measured runs in each turn")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_flag("--processor-time", options.usesProcessorTime,
                     "On one thread: the processor's time, not the wall's");
    command.add_option("--models-in", options.folder, "Keep the files of built-in models in this folder");
    command.add_option("--lines", options.lines, "Append a JSON line for each row to this file");
    command.add_option("--worker", options.worker.way)->group("");  // this program starts itself so
    CLI11_PARSE(command, argc, argv);
    if (!models.empty()) options.models = models;
    if (!options.worker.way.empty()) {
        options.worker.model = options.models.front();
        options.worker.threads = options.threads.front();
        return work(options.worker);
    }
    const auto isComplete = compare(options);
    if (!isComplete) fmt::print("{}\n", isComplete.error().text());
    return isComplete && *isComplete ? 0 : 1;
}
