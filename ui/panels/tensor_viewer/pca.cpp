#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "core/analysis/tensor_views/row_pca.h"
#include "ui/context/count_text.h"
#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/scatter_plot.h"

namespace sonde::panels {
namespace {

using analysis::RowPca;

/// What can be a row: with two rows or more, and two elements in each.
std::vector<int> rowChoices(const tensor::Tensor& tensor) {
    std::vector<int> choices;
    const auto canBe = [&](int axis) {
        const auto shape = analysis::pcaShape(tensor, axis);
        return shape[0] >= 2 && shape[1] >= 2;
    };
    const int rank = static_cast<int>(tensor.rank());
    if (rank > 2 && canBe(analysis::kRowsOfLastAxis)) choices.push_back(analysis::kRowsOfLastAxis);
    for (int axis = 0; axis < rank; ++axis)
        if (canBe(axis)) choices.push_back(axis);
    return choices;
}

bool hasRows(const tensor::Tensor& tensor) {
    return isNumeric(tensor) && tensor.rank() >= 2 && tensor.numel() > 0 && !rowChoices(tensor).empty();
}

/// Tokens of [N,T,H], filters of [O,I,kH,kW], samples or channels of feature maps.
int usualChoice(const tensor::Tensor& tensor) {
    const std::vector<int> choices = rowChoices(tensor);
    if (tensor.rank() == 3) return choices.front();
    for (const int axis : choices)
        if (axis >= 0) return axis;
    return choices.front();
}

/// Rows of a tensor by their first two principal components.
class Pca : public TensorView {
  public:
    Pca()
        : m_rows(new QComboBox(this)), m_facts(new widgets::ElidedLabel({}, this)),
          m_plot(new widgets::ScatterPlot(this)) {
        m_plot->setMinimumHeight(180);
        m_facts->setElideMode(Qt::ElideRight);
        m_rows->setObjectName(QStringLiteral("pcaRows"));
        m_rows->setAccessibleName(tr("What is a row"));
        m_rows->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        m_rows->setMinimumContentsLength(12);
        auto* head = new QHBoxLayout;
        head->addWidget(new QLabel(tr("Rows"), this));
        head->addWidget(m_rows, 1);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(theme::kTight);
        column->addLayout(head);
        column->addWidget(m_facts);
        column->addWidget(m_plot, 1);
        setFocusProxy(m_plot);
        connect(m_rows, &QComboBox::activated, this, [this] {
            m_axis = m_rows->currentData().toInt();
            Q_EMIT stateChanged();
            compute();
        });
        connect(m_plot, &widgets::ScatterPlot::currentChanged, this, [this](int point) {
            Q_EMIT pointed(point < 0 ? QString() : readOut(static_cast<std::size_t>(point)),
                           std::numeric_limits<double>::quiet_NaN());
        });
    }

    QVariantMap state() const override { return {{QStringLiteral("rows"), m_axis.value_or(0)}}; }
    void setState(const QVariantMap& state) override {
        const QVariant rows = state.value(QStringLiteral("rows"));
        m_axis = rows.isValid() ? std::optional(rows.toInt()) : std::nullopt;
    }

    void show(const ViewedTensor& shown) override {
        const std::vector<int> choices = rowChoices(shown.tensor);
        if (!m_axis || std::ranges::find(choices, *m_axis) == choices.end()) m_axis = usualChoice(shown.tensor);
        const bool isSame =
            areSameElements(m_shown.tensor, shown.tensor) && m_shown.tokens == shown.tokens && m_computed == *m_axis;
        m_shown = shown;
        if (isSame) return;
        m_rows->clear();
        for (const int axis : choices) m_rows->addItem(choiceText(axis), axis);
        m_rows->setCurrentIndex(m_rows->findData(*m_axis));
        compute();
    }

    QString copyText() const override {
        QString text;
        for (std::size_t i = 0; i < m_found.points.size(); ++i)
            text += QStringLiteral("%1\t%2\t%3\n")
                        .arg(nameOf(m_found.points[i].row))
                        .arg(m_found.points[i].x)
                        .arg(m_found.points[i].y);
        return text;
    }

  private:
    QString choiceText(int axis) const {
        const auto shape = analysis::pcaShape(m_shown.tensor, axis);
        const QString size =
            QStringLiteral("%1 \u00d7 %2").arg(context::countText(shape[0]), context::countText(shape[1]));
        return axis == analysis::kRowsOfLastAxis ? tr("all axes but the last: %1").arg(size)
                                                 : tr("axis %1: %2").arg(axis).arg(size);
    }

    void compute() {
        m_computed = *m_axis;
        m_found = {};
        m_plot->setMessage(tr("Computing principal components\u2026"));
        m_facts->setText({});
        m_job.start([tensor = m_shown.tensor, axis = *m_axis](
                        const base::WorkContext& work) { return analysis::rowPca(tensor, axis, work.stop); },
                    [this](base::Result<RowPca> found) {
                        if (!found) return m_plot->setMessage(QString::fromStdString(found.error().what));
                        m_found = std::move(*found);
                        fill();
                    });
    }

    void fill() {
        m_facts->setText(factsText());
        if (m_found.explained[0] == 0) return m_plot->setMessage(tr("All rows are equal"));
        std::vector<QPointF> points;
        std::vector<QString> names;
        for (const RowPca::Point& point : m_found.points) {
            points.emplace_back(point.x, point.y);
            names.push_back(nameOf(point.row));
        }
        m_plot->setPoints(std::move(points), std::move(names));
        const auto title = [this](int component) {
            return tr("PC %1: %2 % of the variance")
                .arg(component + 1)
                .arg(m_found.explained[static_cast<std::size_t>(component)] * 100, 0, 'f', 1);
        };
        m_plot->setAxes(title(0), title(1));
    }

    /// "1,000 of 30,522 rows, 768 columns"
    QString factsText() const {
        const auto part = [](std::int64_t taken, std::int64_t count) {
            return taken == count ? context::countText(count)
                                  : tr("%1 of %2").arg(context::countText(taken), context::countText(count));
        };
        QString text =
            tr("%1 rows, %2 columns")
                .arg(part(m_found.takenRows, m_found.rowCount), part(m_found.takenColumns, m_found.columnCount));
        if (m_found.takenRows < m_found.rowCount || m_found.takenColumns < m_found.columnCount)
            text += tr(", evenly spread");
        if (m_found.badRows > 0) text += tr("; without %1 with NaN or Inf").arg(context::countText(m_found.badRows));
        return text;
    }

    /// The token of a row where there are as many rows as the input's text has tokens, else its position.
    QString nameOf(std::int64_t row) const {
        const session::TokenNames* const tokens = m_shown.tokens.get();
        if (tokens && static_cast<std::int64_t>(tokens->ids.size()) == m_found.rowCount)
            if (const std::string text = tokens->at(row); !text.empty())
                return QStringLiteral("%1 \u201c%2\u201d").arg(row).arg(QString::fromStdString(text));
        return QString::number(row);
    }

    QString readOut(std::size_t index) const {
        const RowPca::Point& point = m_found.points[index];
        return tr("row %1: (%2, %3)")
            .arg(nameOf(point.row), widgets::numberText(point.x, 4), widgets::numberText(point.y, 4));
    }

    QComboBox* m_rows;
    widgets::ElidedLabel* m_facts;
    widgets::ScatterPlot* m_plot;
    ViewedTensor m_shown;
    std::optional<int> m_axis;
    int m_computed = -2;
    RowPca m_found;
    context::Job m_job;
};

}  // namespace

TensorViewInfo pcaView() {
    TensorViewInfo info;
    info.id = QStringLiteral("pca");
    info.title = QStringLiteral("PCA");
    info.icon = QStringLiteral("scatter");
    info.description = QStringLiteral("Rows by their first two principal components");
    info.accepts = hasRows;
    info.isSpecial = true;
    info.factory = [] { return new Pca; };
    return info;
}

}  // namespace sonde::panels
