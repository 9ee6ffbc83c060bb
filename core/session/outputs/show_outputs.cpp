#include "core/session/outputs/show_outputs.h"

#include <algorithm>

#include "core/document/session_model.h"
#include "core/io/image/image.h"
#include "core/session/outputs/class_labels.h"

namespace sonde::session::outputs {

namespace {

/// A file that several outputs use is read once.
template <typename Read>
class ReadFiles {
  public:
    using Content = typename std::invoke_result_t<Read, std::string>::value_type;

    explicit ReadFiles(Read read) : m_read(read) {}

    /// Null: it cannot be read, which is noted.
    const Content* get(const std::string& path, std::vector<std::string>& notes) {
        if (path.empty()) return nullptr;
        auto found = std::ranges::find(m_files, path, [](const auto& file) { return file->first; });
        if (found == m_files.end()) {
            m_files.push_back(std::make_unique<std::pair<std::string, base::Result<Content>>>(path, m_read(path)));
            found = m_files.end() - 1;
        }
        if ((*found)->second) return &*(*found)->second;
        notes.push_back((*found)->second.error().text());
        return nullptr;
    }

  private:
    Read m_read;
    std::vector<std::unique_ptr<std::pair<std::string, base::Result<Content>>>> m_files;
};

Choice choiceFor(const std::vector<Choice>& choices, const std::string& name) {
    const auto found = std::ranges::find(choices, name, &Choice::output);
    Choice choice = found == choices.end() ? Choice() : *found;
    choice.output = name;
    return choice;
}

base::Result<Facts> factsOf(const ShowRequest& request, std::size_t index, const base::WorkContext& work) {
    Facts facts;
    facts.name = request.names[index].first;
    facts.value = request.values[index];
    facts.inputs = request.inputs;
    for (std::size_t i = 0; i < request.values.size(); ++i)
        facts.outputs.emplace_back(request.names[i].first, request.values[i]);
    if (!facts.value.isTensor()) return facts;
    SONDE_ASSIGN(facts.tensor, facts.value.tensor().contiguous());
    facts.stats = analysis::tensorStats(facts.tensor, work.stop);
    return facts;
}

/// What an image file's conversion is, of the inputs whose values are of one.
std::vector<InputFact> withPresets(const ShowRequest& request) {
    std::vector<InputFact> inputs = request.inputs;
    constexpr std::size_t kHead = 64;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto file = i < request.imageFiles.size() ? request.imageFiles[i] : nullptr;
        if (!file || !io::looksLikeImage(file->window(0, std::min(kHead, file->sizeBytes())))) inputs[i].preset.clear();
    }
    return inputs;
}

/// The tokenizer that the input's text was given with.
std::optional<OutputTokens> tokensOfInput(const std::string& item) {
    auto tokenizer = tokenizerOfItem(item);
    return tokenizer ? std::optional(OutputTokens(std::move(tokenizer))) : std::nullopt;
}

/// A model that translates may have other tokens for what it gives: then there are not as many.
bool isForOutput(const std::optional<OutputTokens>& given, const Facts& facts) {
    if (!given) return false;
    return facts.isInteger() ? facts.stats.maximum < static_cast<double>(given->idCount())
                             : given->idCount() <= facts.dim(-1);
}

}  // namespace

base::Result<ShownOutputs> showOutputs(const ShowRequest& given, const base::WorkContext& work) {
    ShowRequest request = given;
    request.inputs = withPresets(given);
    for (InputFact& input : request.inputs)
        if (input.tensor.defined()) {
            SONDE_ASSIGN(input.tensor, input.tensor.contiguous());
        }
    ShownOutputs shown;
    shown.origin = request.origin.value_or(knownOrigin(*request.document));
    ReadFiles labels([](const std::string& path) { return readLabels(path); });
    ReadFiles vocabularies([](const std::string& path) { return OutputTokens::read(path); });
    const auto beside = labelsBeside(*request.document);
    const std::string tokensBeside = tokenFileBeside(*request.document);
    const std::optional<OutputTokens> ofInput = tokensOfInput(request.tokenItem);
    for (std::size_t i = 0; i < request.values.size(); ++i) {
        work.report("showing " + request.names[i].first, i, request.values.size());
        SONDE_ASSIGN(const Facts facts, factsOf(request, i, work));
        if (work.cancelled()) return base::cancelled();
        ShownOutput output;
        output.name = facts.name;
        output.node = request.names[i].second;
        output.type = facts.value.typeText();
        output.choice = choiceFor(request.choices, facts.name);
        for (const Form& form : forms())
            if (form.suits(facts) > kCannot) output.forms.push_back(&form);
        std::ranges::stable_sort(output.forms, std::ranges::greater{},
                                 [&](const Form* form) { return form->suits(facts); });
        output.form = output.choice.form.empty() ? &bestForm(facts) : findForm(output.choice.form);
        if (!output.form || std::ranges::find(output.forms, output.form) == output.forms.end()) {
            output.error = base::usageError("output '" + output.name + "' does not fit the form '" +
                                            output.choice.form + "': it is " + output.type);
            output.form = nullptr;
            shown.outputs.push_back(std::move(output));
            continue;
        }
        output.isRandom = shown.origin == WeightOrigin::Random;
        output.samples = output.form->samples ? std::max<std::int64_t>(output.form->samples(facts), 1) : 1;
        FormRequest form{facts, output.choice, nullptr, nullptr, work.stop};
        if (output.form->usesLabels) {
            if (output.choice.labels.empty() && beside) output.choice.labels = beside->string();
            if (!output.isRandom) form.labels = labels.get(output.choice.labels, output.notes);
            // Only who reads names must know whether they can mean anything.
            if (form.labels && !request.origin && shown.origin == WeightOrigin::Unknown) {
                shown.origin = lookedAtOrigin(*request.document, base::WorkContext{work.stop, {}});
                request.origin = shown.origin;
            }
        }
        if (output.form->usesVocabulary && output.choice.vocabulary.empty() && isForOutput(ofInput, facts)) {
            form.tokens = &*ofInput;
            output.choice.vocabulary = tokenizerPartOf(request.tokenItem)->path;
        } else if (output.form->usesVocabulary) {
            if (output.choice.vocabulary.empty()) output.choice.vocabulary = tokensBeside;
            form.tokens = vocabularies.get(output.choice.vocabulary, output.notes);
        }
        if ((output.form->usesLabels || output.form->usesVocabulary) && shown.origin != WeightOrigin::Unknown)
            if (output.isRandom || form.labels) output.notes.push_back(originText(shown.origin));
        auto made = output.form->make(form);
        if (work.cancelled()) return base::cancelled();
        if (made) {
            output.content = std::move(made->content);
            output.shownWith = std::move(made->shownWith);
            std::ranges::move(made->notes, std::back_inserter(output.notes));
        } else {
            output.error = made.error();
        }
        shown.outputs.push_back(std::move(output));
    }
    return shown;
}

SessionChoices sessionChoices(const document::Document& document) {
    SessionChoices found;
    if (!document.session) return found;
    auto read = choicesOf(document.session->file);
    if (!read) {
        found.refused.push_back(read.error());
        return found;
    }
    const document::OpenedSession& opened = *document.session;
    for (Choice& choice : *read) {
        for (std::string* const file : {&choice.labels, &choice.vocabulary}) {
            if (file->empty()) continue;
            const std::filesystem::path named(*file);
            const std::filesystem::path path = named.is_absolute() ? named : opened.folder / named;
            if (opened.allowsOutside || document::isInFolder(path, opened.folder)) {
                *file = path.lexically_normal().string();
                continue;
            }
            found.refused.push_back(base::unreadable("the session names a file outside of its folder: " + *file,
                                                     opened.path.string(), "--allow-outside reads it"));
            file->clear();
        }
        found.choices.push_back(std::move(choice));
    }
    return found;
}

}  // namespace sonde::session::outputs
