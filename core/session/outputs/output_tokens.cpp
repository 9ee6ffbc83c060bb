#include "core/session/outputs/output_tokens.h"

#include <string_view>

#include "core/base/mapped_file.h"
#include "core/document/session_model.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"
#include "core/session/outputs/class_labels.h"

namespace sonde::session::outputs {

base::Result<OutputTokens> OutputTokens::read(const std::string& path) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    const std::string_view content(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
    if (io::isTokenizerJson(content)) {
        SONDE_ASSIGN(auto tokenizer, io::openTokenizer(path));
        return OutputTokens(std::move(tokenizer));
    }
    SONDE_ASSIGN(io::Vocabulary vocabulary, io::Vocabulary::read(path));
    return OutputTokens(std::move(vocabulary));
}

std::string OutputTokens::token(std::int64_t id) const {
    if (m_tokenizer) return m_tokenizer->token(id) ? m_tokenizer->tokenText(id) : std::string();
    const std::string* const found = m_vocabulary->token(id);
    return found ? *found : std::string();
}

std::string OutputTokens::text(std::span<const std::int64_t> ids) const {
    return m_tokenizer ? m_tokenizer->decode(ids) : m_vocabulary->text(ids);
}

std::int64_t OutputTokens::idCount() const {
    return m_tokenizer ? m_tokenizer->idCount() : static_cast<std::int64_t>(m_vocabulary->size());
}

std::string tokenFileBeside(const document::Document& document) {
    const bool mayRead = !document.session || document.session->allowsOutside;
    if (mayRead)
        if (std::string found = io::tokenizerBeside(document.location); !found.empty()) return found;
    const auto vocabulary = vocabularyBeside(document);
    return vocabulary ? vocabulary->string() : std::string();
}

std::optional<io::TokenizerPart> tokenizerPartOf(const std::string& item) {
    if (!io::givesText(item)) return std::nullopt;
    const auto typed = io::parseTextItem(item);
    auto how = io::parseTokenizerPart(typed ? typed->part : io::splitDataItem(item).second);
    return how ? std::optional(std::move(*how)) : std::nullopt;
}

std::shared_ptr<const io::Tokenizer> tokenizerOfItem(const std::string& item) {
    const auto how = tokenizerPartOf(item);
    if (!how) return nullptr;
    auto opened = io::openTokenizer(how->path, how->choice);
    return opened ? std::move(*opened) : nullptr;
}

}  // namespace sonde::session::outputs
