#include "hit.h"

int main(void)
{
    answer(0, 1);
    return 0;
}
