#include "ui/dialogs/engine_choice.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/document/native_library.h"
#include "ui/context/stored.h"
#include "ui/context/window_hint.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

const QString kLibraryKey = QStringLiteral("engine/library");

}  // namespace

EngineChoice::EngineChoice(QWidget* parent)
    : QWidget(parent), m_path(new QLineEdit(this)), m_consent(new QCheckBox(tr("&Run its code"), this)),
      m_note(new QLabel(this)) {
    m_path->setObjectName(QStringLiteral("engineLibrary"));
    m_path->setAccessibleName(tr("ONNX Runtime's library"));
    m_path->setPlaceholderText(QStringLiteral("libonnxruntime.so"));
    auto* browse = new QPushButton(tr("Bro&wse\u2026"), this);
    browse->setAutoDefault(false);
    m_consent->setObjectName(QStringLiteral("engineConsent"));
    m_note->setObjectName(QStringLiteral("engineNote"));
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    auto* file = new QHBoxLayout;
    file->setSpacing(theme::kSmall);
    file->addWidget(m_path, 1);
    file->addWidget(browse);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kSmall);
    column->addLayout(file);
    column->addWidget(m_note);
    column->addWidget(m_consent);
    connect(browse, &QPushButton::clicked, this, &EngineChoice::browse);
    connect(m_path, &QLineEdit::textChanged, this, &EngineChoice::read);
    connect(m_consent, &QCheckBox::toggled, this, &EngineChoice::changed);
    m_path->setText(context::stored(kLibraryKey).toString());
    refresh();
}

EngineChoice::~EngineChoice() = default;

QString EngineChoice::path() const { return m_path->text().trimmed(); }
void EngineChoice::setPath(const QString& path) { m_path->setText(path); }

bool EngineChoice::isReady() const { return m_library && (m_library->isAgreed || m_consent->isChecked()); }

/// A library has tens of megabytes: its hash is computed in the background.
void EngineChoice::read() {
    m_library.reset();
    m_error.clear();
    m_consent->setChecked(false);
    m_reading.abandon();
    if (!path().isEmpty()) {
        using Read = base::Result<Library>;
        m_reading.start(
            [path = path().toStdString()](const base::WorkContext&) -> Read {
                SONDE_ASSIGN(const auto library, document::NativeLibrary::read(path));
                return Library{library->hash(), document::isNativeAgreed(library->hash())};
            },
            [this](Read library) {
                if (library) m_library = std::move(*library);
                else m_error = context::windowText(library.error());
                refresh();
            });
    }
    refresh();
}

void EngineChoice::refresh() {
    const bool mustAsk = m_library && !m_library->isAgreed;
    m_consent->setVisible(mustAsk);
    if (mustAsk)
        m_note->setText(tr("The library's code runs in a process of its own, with your rights: it can read, change and "
                           "send your files. Agree only if you know where it comes from. Sonde remembers this for "
                           "exactly this content (SHA-256 %1\u2026).")
                            .arg(QString::fromStdString(m_library->hash.substr(0, 16))));
    else if (!m_error.isEmpty()) m_note->setText(m_error);
    else if (m_library) m_note->setText(tr("You have agreed to run this library."));
    else m_note->setText(tr("ONNX Runtime as a shared library, as it comes with its packages."));
    Q_EMIT changed();
}

void EngineChoice::browse() {
    auto* dialog = new QFileDialog(this, tr("ONNX Runtime's Library"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Shared libraries (*.so *.so.*)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, &EngineChoice::setPath);
    dialog->open();
}

base::Result<void> EngineChoice::agree() {
    if (!m_library) return base::usageError("no library is chosen");
    context::store(kLibraryKey, path());
    if (m_library->isAgreed) return {};
    return document::agreeToNative(m_library->hash, path().toStdString());
}

}  // namespace sonde::dialogs
