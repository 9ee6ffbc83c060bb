#include "ui/panels/inputs/folder_part.h"

#include <QHBoxLayout>
#include <QToolButton>

#include "ui/context/count_text.h"
#include "ui/context/input_spec.h"
#include "ui/context/text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

FolderPart::FolderPart(const QString& inputName, QWidget* parent)
    : InputPart(parent), m_text(new widgets::ElidedLabel),
      m_previous(widgets::makeToolButton(QStringLiteral("previous"), tr("Previous file of the folder"), this)),
      m_next(widgets::makeToolButton(QStringLiteral("next"), tr("Next file of the folder"), this)) {
    setObjectName(QStringLiteral("folder"));
    m_previous->setObjectName(QStringLiteral("previousFile"));
    m_next->setObjectName(QStringLiteral("nextFile"));
    m_text->setObjectName(QStringLiteral("fileOfFolder"));
    m_previous->setAccessibleName(tr("Previous file for input %1").arg(inputName));
    m_next->setAccessibleName(tr("Next file for input %1").arg(inputName));
    for (QToolButton* button : {m_previous, m_next}) button->setAutoRepeat(true);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kTight);
    row->addWidget(m_previous);
    row->addWidget(m_next);
    row->addWidget(m_text, 1);
    connect(m_previous, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { step(1); });
}

void FolderPart::refresh(const context::ModelInput& input) {
    m_source = input.spec.source;
    const QString path = input.spec.isFile() ? context::text(session::fileOfItem(m_source.toStdString())) : QString();
    if (path.isEmpty()) {
        m_job.abandon();
        m_listed.clear();
        m_folder.reset();
    } else if (!(m_folder && m_folder->find(m_source.toStdString())) && path != m_listed) {
        list(path, false);
    }
    showPlace();
}

void FolderPart::list(const QString& path, bool givesFirst) {
    m_listed = path;
    m_folder.reset();
    m_job.start(
        [path = path.toStdString()](const base::WorkContext& work) { return session::inputFolder(path, work.stop); },
        [this, path, givesFirst](base::Result<session::InputFolder> found) {
            if (found) m_folder = std::make_shared<const session::InputFolder>(std::move(*found));
            // An empty one is told where it is read.
            if (givesFirst) Q_EMIT given(m_folder ? context::text(m_folder->path(0)) : path, true);
            showPlace();
        });
}

void FolderPart::openFolder(const QString& path) { list(path, true); }

void FolderPart::showPlace() {
    const auto at = m_folder ? m_folder->find(m_source.toStdString()) : std::nullopt;
    setVisible(at && m_folder->names.size() > 1);
    if (!at) return;
    m_text->setText(tr("%1  ·  %2 of %3")
                        .arg(context::text(m_folder->names[*at]), context::countText(*at + 1),
                             context::countText(m_folder->names.size())));
    m_previous->setEnabled(canStep(-1));
    m_next->setEnabled(canStep(1));
}

bool FolderPart::canStep(int by) const {
    const auto at = m_folder ? m_folder->find(m_source.toStdString()) : std::nullopt;
    if (!at) return false;
    const auto next = static_cast<std::ptrdiff_t>(*at) + by;
    return next >= 0 && next < static_cast<std::ptrdiff_t>(m_folder->names.size());
}

void FolderPart::step(int by) {
    if (!canStep(by)) return;
    const std::string item = m_source.toStdString();
    const auto next = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(*m_folder->find(item)) + by);
    Q_EMIT given(context::text(session::withFile(item, m_folder->path(next))), false);
}

}  // namespace sonde::panels
