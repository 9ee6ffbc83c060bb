#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/text_item.h"
#include "core/session/generation/generation.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

using session::FedValue;
using session::GeneratedToken;
using session::Generation;

struct GenerateOptions {
    ModelOptions model;
    std::string prompt, tokenizer, end;
    std::vector<std::string> idTexts;
    std::vector<std::int64_t> ids;
    std::size_t tokens = 32;
    session::GenerationRequest request;
    InputChoice inputs;
    std::size_t threads = 0;
    bool json = false;
};

/// "464,3290", also in several words.
base::Result<std::vector<std::int64_t>> idsOf(const std::vector<std::string>& texts) {
    std::vector<std::int64_t> ids;
    for (const std::string& text : texts)
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(',', begin), text.size());
            const auto id = base::parseNumber<std::int64_t>(std::string_view(text).substr(begin, end - begin));
            if (!id || *id < 0)
                return base::usageError("'" + text.substr(begin, end - begin) + "' is not a token id", "--ids",
                                        "ids are integers from 0 on: 464,3290");
            ids.push_back(*id);
            begin = end + 1;
        }
    return ids;
}

class GenerateVerb {
  public:
    explicit GenerateVerb(GenerateOptions& options) : m_options(options), m_session(commandLineWork()) {}

    base::Result<int> run() {
        SONDE_ASSIGN(m_options.ids, idsOf(m_options.idTexts));
        if (m_options.prompt.empty() == m_options.ids.empty())
            return base::usageError("either --prompt or --ids is needed", "--prompt");
        SONDE_ASSIGN(m_document, m_options.model.load());
        SONDE_TRY(openTokenizer());
        SONDE_TRY(findEnd());
        SONDE_ASSIGN(Generation generation, Generation::of(*m_document, m_options.request));
        InputChoice inputs = m_options.inputs;
        SONDE_ASSIGN(inputs.spec, generation.inputData(m_options.ids, m_options.inputs.spec));
        SONDE_ASSIGN(const auto cases, inputsFor(*m_document, inputs));
        if (cases.size() != 1) return base::usageError("one text at a time", "--input-data");
        SONDE_TRY(generation.begin(cases.front().values));
        m_promptLength = generation.ids().size();
        showIn(m_session, m_document);
        session::RunSettings settings{m_options.threads, m_options.request.seed};
        settings.isObserved = false;
        m_session.runs().setSettings(settings);
        const auto done = generate(generation);
        if (m_options.json) printJson(generation);
        else printText(generation);
        if (!done) return done.error();
        return 0;
    }

  private:
    base::Result<void> openTokenizer() {
        std::string path = m_options.tokenizer;
        if (path.empty()) path = io::tokenizerBeside(m_document->location);
        if (path.empty()) {
            if (!m_options.prompt.empty())
                return base::usageError("a text needs the tokenizer of the model", "--tokenizer",
                                        "there is no tokenizer.json or vocab.txt beside the model; or give --ids");
            return {};
        }
        SONDE_ASSIGN(const io::TokenizerPart part, io::parseTokenizerPart(path));
        SONDE_ASSIGN(m_tokenizer, io::openTokenizer(part.path, part.choice));
        if (m_options.prompt.empty()) return {};
        // Ids as they are, whatever length an input declares: a text goes on behind its last token, not behind padding.
        SONDE_ASSIGN(const io::Encoding encoded, m_tokenizer->encode(m_options.prompt, !part.isPlain));
        m_options.ids = encoded.ids;
        if (m_options.ids.empty()) return base::usageError("the text has no token", "--prompt");
        return {};
    }

    /// A token of the tokenizer, or an id.
    base::Result<void> findEnd() {
        if (m_options.end.empty()) return {};
        if (m_tokenizer) m_options.request.end = m_tokenizer->id(m_options.end);
        if (!m_options.request.end) m_options.request.end = base::parseNumber<std::int64_t>(m_options.end);
        if (!m_options.request.end || *m_options.request.end < 0)
            return base::usageError("'" + m_options.end + "' is neither an id nor a token of the tokenizer", "--end");
        return {};
    }

    /// Until as many tokens are there as were asked for, or none can follow; what there is at an error is kept.
    base::Result<void> generate(Generation& generation) {
        while (m_made.size() < m_options.tokens && !generation.isFinished()) {
            const auto begin = std::chrono::steady_clock::now();
            m_session.runs().giveValues(generation.inputs());
            m_session.runs().run();
            const session::Run& run = m_session.runs().last();
            if (run.error) return *run.error;
            SONDE_ASSIGN(const GeneratedToken token, generation.take(run.recording->outputs));
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
            m_made.push_back({token, took.count()});
        }
        return {};
    }

    std::string textOf(std::span<const std::int64_t> ids) const {
        return m_tokenizer ? m_tokenizer->decode(ids) : fmt::format("{}", fmt::join(ids, " "));
    }

    void printText(const Generation& generation) const {
        std::istringstream text(textOf(generation.ids()));
        for (std::string line; std::getline(text, line);) fmt::print("{}\n", base::visibleText(line));
        if (m_made.empty()) return;
        std::vector<double> later;
        for (std::size_t i = 1; i < m_made.size(); ++i) later.push_back(m_made[i].milliseconds);
        std::ranges::sort(later);
        fmt::print(stderr, "{} after {}, the first in {:.2f} ms{}; {}\n",
                   base::countedText(std::ssize(m_made), "token"),
                   base::countedText(static_cast<std::int64_t>(m_promptLength), "token"), m_made.front().milliseconds,
                   later.empty() ? "" : fmt::format(", then {:.2f} ms each (median)", later[later.size() / 2]),
                   generation.fed().empty()
                       ? "no cache: each run computes the whole text"
                       : fmt::format("{} fed back", base::countedText(std::ssize(generation.fed()), "output")));
        if (generation.isFinished()) printNotes({"the text ends: " + generation.endReason()});
    }

    void printJson(const Generation& generation) const {
        nlohmann::ordered_json root{{"format", "sonde-generation"}, {"version", 1}, {"model", m_document->location}};
        const auto& ids = generation.ids();
        root["prompt"] =
            std::vector<std::int64_t>(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(m_promptLength));
        root["fed"] = nlohmann::ordered_json::array();
        for (const FedValue& fed : generation.fed())
            root["fed"].push_back(
                {{"output", m_document->outputs[fed.output].name}, {"input", m_document->inputs[fed.input].name}});
        root["tokens"] = nlohmann::ordered_json::array();
        for (const Made& made : m_made) {
            nlohmann::ordered_json token{
                {"id", made.token.id}, {"probability", made.token.probability}, {"ms", made.milliseconds}};
            if (m_tokenizer && m_tokenizer->token(made.token.id)) token["text"] = m_tokenizer->tokenText(made.token.id);
            root["tokens"].push_back(std::move(token));
        }
        if (m_tokenizer) root["text"] = m_tokenizer->decode(ids);
        root["end"] = generation.isFinished() ? nlohmann::ordered_json(generation.endReason()) : nullptr;
        fmt::print("{}\n", root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    struct Made {
        GeneratedToken token;
        double milliseconds;
    };

    GenerateOptions& m_options;
    session::Session m_session;
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<const io::Tokenizer> m_tokenizer;  ///< null: ids alone
    std::size_t m_promptLength = 0;
    std::vector<Made> m_made;
};

}  // namespace

Verb generateVerb() {
    return {"generate", "Let a model of text go on with a text, a token a run, with a cache where it has one",
            "sonde generate model.onnx --prompt 'Once upon a time' --tokenizer tokenizer.json --tokens 64",
            [](CLI::App& command) {
                auto options = std::make_shared<GenerateOptions>();
                options->model.addTo(command);
                command.add_option("--prompt", options->prompt, "Text to go on with");
                command.add_option("--tokenizer", options->tokenizer,
                                   "Tokenizer of the model: tokenizer.json or a vocabulary, as behind the # of a text "
                                   "(default: the one beside the model)");
                command.add_option("--ids", options->idTexts, "Token ids to go on with, in place of a text: 464,3290")
                    ->excludes("--prompt");
                command.add_option("--tokens", options->tokens, "Number of tokens to add at most")
                    ->check(aboveZero())
                    ->capture_default_str();
                command
                    .add_option(
                        "--feed", options->request.fed,
                        "OUTPUT=INPUT: an output that is an input of the next run (again for more); a * on both "
                        "sides stands for the same text (default: present.*=past_key_values.* and the like)")
                    ->allow_extra_args(false);
                command
                    .add_option("--temperature", options->request.temperature,
                                "Draw tokens, by their logits over this number; 0: take the most likely one")
                    ->check(finiteFromZero("temperature"))
                    ->capture_default_str();
                command.add_option("--top", options->request.top, "Draw of so many most likely tokens; 0: of all")
                    ->check(nonNegativeInteger());
                addSeed(command, options->request.seed, "Seed of the draws and of random operators");
                command.add_option("--end", options->end, "Token, or its id, after which the text ends");
                command.add_option("--input-data", options->inputs.spec, "Values of other inputs, as those of `run`");
                command.add_flag("--json", options->json, "Print one JSON object");
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return GenerateVerb(*options).run(); });
            }};
}

}  // namespace sonde::app
