#include "ui/dialogs/engine_dialog.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/context/window_hint.h"
#include "ui/dialogs/engine_choice.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

EngineDialog::EngineDialog(QWidget* parent)
    : QDialog(parent), m_engine(new EngineChoice(this)), m_problem(new QLabel(this)), m_start(nullptr) {
    setWindowTitle(tr("Compare with ONNX Runtime"));
    auto* what = new QLabel(tr("Runs the model on the present inputs in ONNX Runtime, without its optimisations, and "
                               "compares every value and the time of each operation."),
                            this);
    what->setWordWrap(true);
    m_problem->setWordWrap(true);
    m_problem->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_start = buttons->addButton(tr("&Compare"), QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("startEngine"));
    m_start->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(theme::kSmall);
    column->addWidget(what);
    column->addWidget(m_engine);
    column->addStretch(1);
    column->addWidget(m_problem);
    column->addWidget(buttons);
    setMinimumWidth(theme::kLarge * 22);
    const auto refresh = [this] { m_start->setEnabled(m_engine->isReady()); };
    connect(m_engine, &EngineChoice::changed, this, refresh);
    connect(buttons, &QDialogButtonBox::accepted, this, &EngineDialog::finish);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    refresh();
}

void EngineDialog::finish() {
    if (const auto agreed = m_engine->agree(); !agreed) {
        m_problem->setText(context::windowText(agreed.error()));
        return m_problem->show();
    }
    Q_EMIT chosen(m_engine->path());
    accept();
}

}  // namespace sonde::dialogs
