#include "ui/dialogs/builtin_dialog.h"

#include <QDialogButtonBox>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/zoo/zoo.h"
#include "ui/context/text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

BuiltInDialog::BuiltInDialog(QWidget* parent) : QDialog(parent), m_list(new QListWidget(this)) {
    setWindowTitle(tr("Built-in Models"));
    resize(460, 320);
    m_list->setAccessibleName(tr("Built-in models"));
    m_list->setWordWrap(true);
    for (const zoo::ModelEntry& entry : zoo::models()) {
        auto* item = new QListWidgetItem(
            theme::icon(QStringLiteral("module")),
            context::text(entry.name) + QLatin1Char('\n') + context::text(entry.description), m_list);
        item->setData(Qt::UserRole, QStringLiteral("zoo:") + context::text(entry.name));
    }
    m_list->setCurrentRow(0);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this);
    buttons->button(QDialogButtonBox::Open)->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(theme::kMedium);
    column->addWidget(m_list);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_list, &QListWidget::itemActivated, this, &QDialog::accept);
    connect(this, &QDialog::accepted, this, [this] {
        if (m_list->currentItem()) Q_EMIT chosen(m_list->currentItem()->data(Qt::UserRole).toString());
    });
}

}  // namespace sonde::dialogs
